package stream

import (
	"encoding/binary"

	"godwit/internal/arena"
	"godwit/internal/invariant"
)

// index is a sequence of blocks in the arena, sorted by their first IDs. What is in the blocks is
// the business of its users.
//
//	index ─→ pages, a Go slice: first ID, number of blocks, where the page is
//	           │
//	           ├─→ page in the arena: up to pageBlocks descriptors of blockInfo bytes
//	           │      ├─→ block   any number of bytes
//	           │      └─→ block
//	           └─→ page
//
// A search is two binary searches. Insertion and removal move at most a page of descriptors, and
// an element of the slice for each pageBlocks blocks: for ten million entries that slice has some
// two thousand elements. Both ends are cheap: a page that goes at the front moves nothing.
//
// # Invariants
//
//   - Pages are not empty. first of a page is that of its first block. First IDs ascend strictly.
//   - low of a page is not above the low of any of its blocks.
//   - bytes is the sum of the size classes of pages and blocks.
//   - While the index is frozen (freeze.go), keep comes before every change of a block's bytes or
//     descriptor, and blocks of another generation than gen are as they were. Only where they are,
//     and how much room they have, may change.
//
// Positions are valid until the next insertion or removal.
type index struct {
	sh     *Shared
	pages  []page
	blocks int
	bytes  int64
	gen    uint32
	large  bool // of entries: the stream is counted in Shared.Large
	frozen *frozenIndex
}

// page is what the slice knows of a page.
type page struct {
	first   ID
	ref     arena.Ref
	n, room int32
	low     int64
}

// pageGoBytes is what an element of pages takes.
const pageGoBytes = 48

// pos is the place of a block.
type pos struct{ page, i int }

// block is a descriptor: what the index knows of a block.
type block struct {
	first ID // not above any ID in it, and above all before it
	ref   arena.Ref
	n     int    // bytes in use
	room  int    // bytes allocated
	live  int    // elements that count
	dead  int    // elements that were deleted and are still in it
	gen   uint32 // see index
	low   int64  // of rows: a bound below their times
}

// A descriptor in a page, little endian:
//
//	0          16     24   28     32     36     40    44    48
//	+----------+------+----+------+------+------+-----+-----+------+
//	| first ID | Ref  | n  | room | live | dead | gen | 0   | low  |
//	| ms, seq  | 8    | 4  | 4    | 4    | 4    | 4   | 4   | 8    |
//	+----------+------+----+------+------+------+-----+-----+------+
const (
	blockInfo  = 56
	pageBlocks = 64
	firstRoom  = 1 // blocks that the first page of an index has room for
	laterRoom  = 8
)

func getID(b []byte) ID {
	_ = b[15]
	return ID{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
}

func putID(b []byte, id ID) {
	_ = b[15]
	binary.LittleEndian.PutUint64(b, id.Ms)
	binary.LittleEndian.PutUint64(b[8:], id.Seq)
}

// table returns the descriptors of a page.
func (x *index) table(p *page) []byte {
	return x.sh.A.Bytes(p.ref, int(p.room)*blockInfo)[:int(p.n)*blockInfo]
}

// at returns the descriptor of the block at p.
func (x *index) at(p pos) (d block) {
	x.load(p, &d)
	return d
}

// load stores the descriptor of the block at p in d. It is quicker than at: to copy a struct whose
// fields have just been written takes the processor longer than to write them.
func (x *index) load(p pos, d *block) { getInfo(x.info(p), d) }

// info returns the descriptor of the block at p.
func (x *index) info(p pos) []byte {
	return x.table(&x.pages[p.page])[p.i*blockInfo:][:blockInfo]
}

func getInfo(b []byte, d *block) {
	_ = b[blockInfo-1]
	d.first = getID(b)
	d.ref = arena.Ref(binary.LittleEndian.Uint64(b[16:]))
	d.n = int(binary.LittleEndian.Uint32(b[24:]))
	d.room = int(binary.LittleEndian.Uint32(b[28:]))
	d.live = int(binary.LittleEndian.Uint32(b[32:]))
	d.dead = int(binary.LittleEndian.Uint32(b[36:]))
	d.gen = binary.LittleEndian.Uint32(b[40:])
	d.low = lowAt(b)
}

// lowAt returns low of a descriptor.
func lowAt(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b[48:])) }

// put stores the changed descriptor of the block at p. Its first ID must stay between those of the
// blocks around it.
func (x *index) put(p pos, d block) { x.store(p, &d) }

// store is put without a copy, as load is at.
func (x *index) store(p pos, d *block) { x.storeInfo(p, x.info(p), d) }

// storeInfo is store for those who have the descriptor.
func (x *index) storeInfo(p pos, b []byte, d *block) {
	putInfo(b, d)
	pg := &x.pages[p.page]
	pg.low = min(pg.low, d.low)
	if p.i == 0 {
		pg.first = d.first
	}
}

func putInfo(b []byte, d *block) {
	b = b[:blockInfo]
	putID(b, d.first)
	binary.LittleEndian.PutUint64(b[16:], uint64(d.ref))
	binary.LittleEndian.PutUint32(b[24:], uint32(d.n))
	binary.LittleEndian.PutUint32(b[28:], uint32(d.room))
	binary.LittleEndian.PutUint32(b[32:], uint32(d.live))
	binary.LittleEndian.PutUint32(b[36:], uint32(d.dead))
	binary.LittleEndian.PutUint32(b[40:], d.gen)
	binary.LittleEndian.PutUint32(b[44:], 0)
	binary.LittleEndian.PutUint64(b[48:], uint64(d.low))
}

// find returns the last block whose first ID is not above id. ok is false if there is none.
func (x *index) find(id ID) (p pos, ok bool) {
	if p.page = x.pageOf(id); p.page < 0 {
		return pos{}, false
	}
	b := x.table(&x.pages[p.page])
	lo, hi := 1, len(b)/blockInfo
	if hi >= guessFrom {
		lo, hi = around(b, x.guess(p.page, id), id)
	}
	for lo < hi {
		if m := (lo + hi) >> 1; id.Less(getID(b[m*blockInfo:])) {
			hi = m
		} else {
			lo = m + 1
		}
	}
	p.i = lo - 1
	return p, true
}

// pageOf returns the last page whose first ID is not above id, -1 if there is none.
func (x *index) pageOf(id ID) int {
	lo, hi := 0, len(x.pages)
	for lo < hi {
		if m := (lo + hi) >> 1; id.Less(x.pages[m].first) {
			hi = m
		} else {
			lo = m + 1
		}
	}
	return lo - 1
}

// head returns the place of the first block, if there is one.
func (x *index) head() (p pos, ok bool) { return pos{}, len(x.pages) > 0 }

// tail returns the place of the last block, if there is one.
func (x *index) tail() (p pos, ok bool) {
	last := len(x.pages) - 1
	if last < 0 {
		return p, false
	}
	return pos{last, int(x.pages[last].n) - 1}, true
}

// next returns the place of the block behind p, if there is one.
func (x *index) next(p pos) (pos, bool) {
	if p.i+1 < int(x.pages[p.page].n) {
		return pos{p.page, p.i + 1}, true
	}
	return pos{p.page + 1, 0}, p.page+1 < len(x.pages)
}

// prev returns the place of the block before p, if there is one.
func (x *index) prev(p pos) (pos, bool) {
	if p.i > 0 {
		return pos{p.page, p.i - 1}, true
	}
	if p.page == 0 {
		return p, false
	}
	return pos{p.page - 1, int(x.pages[p.page-1].n) - 1}, true
}

// alloc makes a block with room for n bytes and none in use, for insert.
func (x *index) alloc(first ID, n int) block {
	room := arena.ClassSize(max(n, 1))
	x.bytes += int64(room)
	return block{first: first, ref: x.sh.A.Alloc(room, arena.Values), room: room, gen: x.gen}
}

// data returns the bytes of a block that are in use.
func (x *index) data(d *block) []byte { return x.sh.A.Bytes(d.ref, d.room)[:d.n] }

// resize makes n bytes of the block be in use and returns them. If they do not fit, the block gets
// room for so many bytes. Bytes beyond those that were in use are undefined.
func (x *index) resize(d *block, n, room int) []byte {
	if n > d.room {
		x.setRoom(d, max(n, room))
	}
	d.n = n
	return x.data(d)
}

// fit gives back the room that the block does not use. It reports whether there was any.
func (x *index) fit(d *block) bool {
	if arena.ClassSize(max(d.n, 1)) == d.room {
		return false
	}
	x.setRoom(d, d.n)
	return true
}

func (x *index) setRoom(d *block, n int) {
	room := arena.ClassSize(max(n, 1))
	x.bytes += int64(room - d.room)
	d.ref = x.sh.A.Resize(d.ref, d.room, room, arena.Values)
	d.room = room
}

// free frees a block that is in no index, or no more.
func (x *index) free(d block) {
	x.bytes -= int64(d.room)
	x.sh.A.Free(d.ref, d.room, arena.Values)
}

// insert puts a block where its first ID belongs and returns its place.
func (x *index) insert(d block) pos {
	x.blocks++
	p, ok := x.find(d.first)
	switch {
	case ok:
		p.i++
	case len(x.pages) == 0:
		x.addPage(0, firstRoom)
	}
	pg := &x.pages[p.page]
	if pg.n == pageBlocks {
		p = x.makeRoom(p)
		pg = &x.pages[p.page]
	}
	if pg.n == pg.room {
		x.growPage(pg, min(2*pg.room, pageBlocks))
	}
	pg.n++
	b := x.table(pg)
	copy(b[(p.i+1)*blockInfo:], b[p.i*blockInfo:])
	putInfo(b[p.i*blockInfo:], &d)
	if p.i == 0 {
		pg.first = d.first
	}
	pg.low = min(pg.low, d.low)
	return p
}

// replace puts a block in the place of the one at p, which is freed or left to the walk of a frozen
// index. The first ID must stay between those of the blocks around it.
func (x *index) replace(p pos, d block) {
	old := x.at(p)
	if x.frozen == nil || !x.frozen.adopt(old) {
		x.free(old)
	}
	x.put(p, d)
}

// remove takes the block at p out of the sequence and frees it, or leaves it to the walk of a
// frozen index. It returns the place of the block that followed, if there is one.
func (x *index) remove(p pos) (next pos, ok bool) {
	d := x.at(p)
	if x.frozen == nil || !x.frozen.adopt(d) {
		x.free(d)
	}
	x.blocks--
	pg := &x.pages[p.page]
	b := x.table(pg)
	copy(b[p.i*blockInfo:], b[(p.i+1)*blockInfo:])
	pg.n--
	switch {
	case pg.n == 0:
		x.dropPage(p.page)
		return pos{p.page, 0}, p.page < len(x.pages)
	case p.i == 0:
		pg.first = getID(b)
	}
	p = x.mergePages(p)
	if pg = &x.pages[p.page]; p.i < int(pg.n) {
		return p, true
	}
	return pos{p.page + 1, 0}, p.page+1 < len(x.pages)
}

// drain frees blocks from the last one on, as long as n, from which it takes the elements, is above
// 0. It reports whether all are gone. The index must not be frozen.
func (x *index) drain(n *int) (done bool) {
	invariant.Check(x.frozen == nil, "stream: a frozen index is drained")
	for {
		p, ok := x.tail()
		if !ok {
			return true
		}
		if *n <= 0 {
			return false
		}
		d := x.at(p)
		*n -= 1 + d.live/drainShare
		x.free(d)
		x.blocks--
		if pg := &x.pages[p.page]; pg.n > 1 {
			pg.n--
		} else {
			x.dropPage(p.page)
		}
	}
}

// drainShare is how many elements of a block cost as much as another block to free.
const drainShare = 32
