package stream

import (
	"slices"

	"godwit/internal/arena"
)

// total returns the memory of the index in bytes, the slice of its pages included.
func (x *index) total() int64 { return x.bytes + int64(cap(x.pages))*pageGoBytes }

// makeRoom makes room for a block at p, whose page is full, and returns its place. At the end of
// the sequence it begins a page, so that pages that were appended to stay full.
func (x *index) makeRoom(p pos) pos {
	if p.i == pageBlocks && p.page == len(x.pages)-1 {
		x.addPage(p.page+1, laterRoom)
		return pos{p.page + 1, 0}
	}
	const half = pageBlocks / 2
	x.addPage(p.page+1, pageBlocks)
	from, to := &x.pages[p.page], &x.pages[p.page+1]
	to.n = pageBlocks - half
	copy(x.table(to), x.table(from)[half*blockInfo:])
	from.n = half
	to.first, to.low = getID(x.table(to)), from.low
	if p.i > half {
		return pos{p.page + 1, p.i - half}
	}
	return p
}

// maxLow is the low of a page before it has blocks.
const maxLow = 1<<63 - 1

func (x *index) addPage(at, room int) {
	size := room * blockInfo
	x.bytes += int64(arena.ClassSize(size))
	x.counted(func() {
		x.pages = slices.Insert(x.pages, at, page{ref: x.sh.A.Alloc(size, arena.Tables),
			room: int32(room), low: maxLow})
	})
}

// counted counts what f does to the memory of pages.
func (x *index) counted(f func()) {
	was := cap(x.pages)
	f()
	x.sh.GoBytes += int64(cap(x.pages)-was) * pageGoBytes
}

func (x *index) growPage(pg *page, room int32) {
	was, is := int(pg.room)*blockInfo, int(room)*blockInfo
	x.bytes += int64(arena.ClassSize(is) - arena.ClassSize(was))
	pg.ref = x.sh.A.Resize(pg.ref, was, is, arena.Tables)
	pg.room = room
}

func (x *index) dropPage(i int) {
	pg := x.pages[i]
	size := int(pg.room) * blockInfo
	x.bytes -= int64(arena.ClassSize(size))
	x.sh.A.Free(pg.ref, size, arena.Tables)
	x.counted(func() {
		switch {
		case len(x.pages) == 1:
			x.pages = nil
		case i == 0:
			x.pages = x.pages[1:] // an insertion that finds no room copies what is left
		default:
			x.pages = slices.Delete(x.pages, i, i+1)
		}
	})
}

// mergePages puts the page of p and the one behind it together if both are sparse. p may be the end
// of its page. It returns where the block at p is then.
func (x *index) mergePages(p pos) pos {
	const sparse = pageBlocks / 4
	if x.pages[p.page].n > sparse || p.page+1 == len(x.pages) || x.pages[p.page+1].n > sparse {
		return p
	}
	to, from := &x.pages[p.page], &x.pages[p.page+1]
	if need := to.n + from.n; need > to.room {
		x.growPage(to, need)
	}
	at := int(to.n) * blockInfo
	to.n += from.n
	copy(x.table(to)[at:], x.table(from))
	to.low = min(to.low, from.low)
	x.dropPage(p.page + 1)
	return p
}
