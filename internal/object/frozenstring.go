package object

import (
	"errors"
	"hash/crc32"
	"io"
	"sync"

	"godwit/internal/arena"
	"godwit/internal/invariant"
	"godwit/internal/sds"
)

// FrozenString is a long string as it was at one moment. The executor freezes it in O(1) and goes
// on changing it; another goroutine reads what it was, in pieces.
//
//	executor                                reader
//	Heap.Freeze ───────────────────────▶    ReadAt, any number of times
//	StringEdit.Change: copies pages         Read, from the first byte to the last
//	Heap.Grow: the block may move           Close
//	DEL, SET, much growth: the block stays, an orphan
//	Heap.Thaw ◀─────────────────────────    (Closed)
//
// The block stays where it is. A page that is about to be changed is copied first, and the reader
// gets the copy from then on. Copies lie in the arena under Buffers. Pages that Read has passed are
// not copied any more. A block that is dropped meanwhile is freed after Thaw.
//
// # Invariants
//
// What the reader looks at changes under mu only: the place of the block, the set of copies. It
// never looks at a page that has a copy, so bytes can be written without the lock once Change has
// returned. The heap finds a frozen string by the Ref of its block, so keys can be renamed, moved
// and swapped. Builds with invariants keep a sum of each page and compare it when it is read.
//
// Complexity: Freeze is O(1), Change is O(n) in the length of the range, a read holds the lock for
// one copy of what it returns.
type FrozenString struct {
	n    int // bytes
	page int // bytes of a page
	sums pageSums

	mu     sync.Mutex
	b      []byte // the n bytes in the block; nil once thawed
	copies map[int]pageCopy
	passed int // bytes that Read has returned
	closed bool

	// The executor's:
	str    sds.Str     // where the block is
	orphan bool        // no entry has it any more
	kept   int64       // bytes of copies, and of the block if it is an orphan
	pages  []arena.Ref // of the copies
}

type pageCopy struct {
	ref arena.Ref
	b   []byte
}

// ErrThawed is the error of reading a FrozenString that has been thawed.
var ErrThawed = errors.New("object: the string is not frozen any more")

const (
	maxFrozenPage = 4 << 10
	minFrozenPage = 16
	frozenPages   = 256 // that a string has at least, unless they would be too short

	// maxDetached is the greatest length in bytes of a frozen string that gets a new block when it
	// grows to more than twice its length. If the string is dropped later, little more than that
	// length stays for the reader.
	maxDetached = 64 << 20

	// copyHeader is what a copy takes of Go's heap, as measured.
	copyHeader = 96
)

// Freeze freezes the string of an entry. It returns nil if that has no block of its own or is
// frozen already.
func (h *Heap) Freeze(e Entry) *FrozenString {
	if e.Encoding() != EncSDS {
		return nil
	}
	s := e.SDS()
	if s.Len == 0 || h.frozenAt(s.Ref) != nil {
		return nil
	}
	f := &FrozenString{n: int(s.Len), str: s, b: s.Bytes(h.A), page: maxFrozenPage}
	for f.page > minFrozenPage && f.page*frozenPages > f.n {
		f.page /= 2 // only tests freeze strings that are so short
	}
	f.sums = sumPages(f.b, f.page)
	if h.frozen == nil {
		h.frozen = map[arena.Ref]*FrozenString{}
	}
	h.frozen[s.Ref] = f
	return f
}

// frozenAt returns the frozen string in the block, nil if there is none.
func (h *Heap) frozenAt(block arena.Ref) *FrozenString {
	if len(h.frozen) == 0 {
		return nil
	}
	return h.frozen[block]
}

// Thaw ends the freezing: reads fail from now on. It returns what was kept for f alone, which the
// caller must drain: nothing for a string that was thawed before. O(1).
func (h *Heap) Thaw(f *FrozenString) *Thawed {
	f.mu.Lock()
	thawed := f.b == nil
	f.b, f.copies, f.closed = nil, nil, true
	f.mu.Unlock()
	if thawed {
		return &Thawed{h: h}
	}
	delete(h.frozen, f.str.Ref)
	h.frozenBytes -= f.kept
	t := &Thawed{h: h, pages: f.pages, page: f.page, size: f.kept}
	if f.orphan {
		t.str = f.str
	}
	return t
}

// Thawed is what was kept for a frozen string alone: copies of pages, and the block of a string
// that no key has any more.
type Thawed struct {
	h     *Heap
	pages []arena.Ref
	page  int
	str   sds.Str
	size  int64
}

// Len returns the number of pages.
func (t *Thawed) Len() int { return len(t.pages) }

// Size returns the bytes in the arena.
func (t *Thawed) Size() int64 { return t.size }

// Drain frees about n pages, and the block with the last of them. It reports whether that was all.
func (t *Thawed) Drain(n int) (done bool) {
	n = min(n, len(t.pages))
	for _, r := range t.pages[len(t.pages)-n:] {
		t.h.A.Free(r, t.page, arena.Buffers)
	}
	t.h.heads -= int64(n) * copyHeader
	if t.pages = t.pages[:len(t.pages)-n]; len(t.pages) > 0 {
		return false
	}
	t.str.Free(t.h.A)
	return true
}

// CopyBound returns how many bytes changes at n places of the entry's string may copy at most.
func (h *Heap) CopyBound(e Entry, n int) int64 {
	if !h.Saving && len(h.frozen) == 0 || e.Encoding() != EncSDS {
		return 0
	}
	return min(2*int64(n), int64(e.StringLen())/maxFrozenPage+1) * maxFrozenPage
}

// FrozenBytes returns the bytes that are kept for frozen strings alone: copies of pages, and
// strings that no key has any more.
func (h *Heap) FrozenBytes() int64 { return h.frozenBytes }

// adopt is called before a string's block is freed. It reports whether that is left to Thaw.
func (h *Heap) adopt(s sds.Str) bool {
	f := h.frozenAt(s.Ref)
	if f == nil {
		return false
	}
	invariant.Check(!f.orphan && f.str.Ref == s.Ref, "object: a frozen string is dropped twice")
	f.orphan, f.str = true, s
	h.keep(f, int64(s.Cap))
	return true
}

func (h *Heap) keep(f *FrozenString, n int64) {
	f.kept += n
	h.frozenBytes += n
}

// change copies the pages of the bytes from up to to, which are about to be written.
func (h *Heap) change(f *FrozenString, from, to int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for at := max(from, f.passed) / f.page; at*f.page < min(to, f.n) && f.b != nil; at++ {
		if _, ok := f.copies[at]; ok {
			continue
		}
		if f.copies == nil {
			f.copies = map[int]pageCopy{}
		}
		c := pageCopy{ref: h.A.Alloc(f.page, arena.Buffers)}
		c.b = h.A.Bytes(c.ref, f.page)
		copy(c.b, f.b[at*f.page:])
		f.copies[at] = c
		f.pages = append(f.pages, c.ref)
		h.heads += copyHeader
		h.keep(f, int64(f.page))
	}
}

// resize calls do, which may move the block of s to another place.
func (h *Heap) resize(s *sds.Str, do func()) {
	f := h.frozenAt(s.Ref)
	if f == nil {
		do()
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	delete(h.frozen, f.str.Ref)
	h.frozen[s.Ref] = f
	f.str, f.b = *s, h.A.Bytes(s.Ref, f.n)
}

// Grow makes the growing string of an EncSDS entry at least n bytes long, new bytes zero, and
// returns it for changes.
func (h *Heap) Grow(e Entry, n int) StringEdit {
	s := e.SDS()
	if n > int(s.Len) {
		if f := h.frozenAt(s.Ref); f != nil && n > 2*f.n && f.n <= maxDetached {
			s = sds.New(h.A, s.Bytes(h.A))
			h.adopt(e.SDS())
		}
		h.resize(&s, func() { s.Grow(h.A, n) })
		e.setSDS(s)
	}
	return StringEdit{h, s.Bytes(h.A), h.frozenAt(s.Ref)}
}

// Resize makes the growing string of an EncSDS entry n bytes long, n not 0, and returns all of it
// to be changed; see sds.Str.Resize.
func (h *Heap) Resize(e Entry, n, room int) (b []byte) {
	s := e.SDS()
	if f := h.frozenAt(s.Ref); f != nil {
		h.change(f, 0, f.n)
	}
	h.resize(&s, func() { b = s.Resize(h.A, n, room) })
	e.setSDS(s)
	return b
}

// StringEdit is a growing string to be changed. It is valid until the next change of the keyspace.
type StringEdit struct {
	h *Heap
	b []byte
	f *FrozenString
}

// Bytes returns the string, to be read.
func (x StringEdit) Bytes() []byte { return x.b }

// Change returns the string's bytes from up to to, to be written. Bytes shows what is written.
func (x StringEdit) Change(from, to int) []byte {
	if x.f != nil {
		x.h.change(x.f, from, to)
	}
	return x.b[from:to:to]
}

// Len returns the length in bytes.
func (f *FrozenString) Len() int { return f.n }

// ReadAt implements io.ReaderAt.
func (f *FrozenString) ReadAt(p []byte, off int64) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.readAt(p, int(off))
}

// Read implements io.Reader. What it returns cannot be read again.
func (f *FrozenString) Read(p []byte) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err = f.readAt(p, f.passed)
	f.passed += n
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (f *FrozenString) readAt(p []byte, off int) (n int, err error) {
	if f.b == nil {
		return 0, ErrThawed
	}
	if off >= f.n {
		return 0, io.EOF
	}
	if n = min(len(p), f.n-off); n < len(p) {
		err = io.EOF
	}
	if len(f.copies) == 0 && !invariant.Enabled {
		copy(p, f.b[off:off+n])
		return n, err
	}
	for at := off; at < off+n; {
		i := at / f.page
		first, last := i*f.page, min((i+1)*f.page, f.n)
		page := f.b[first:last]
		if c, ok := f.copies[i]; ok {
			page = c.b[:last-first]
		}
		f.sums.check(i, page)
		at += copy(p[at-off:n], page[at-first:])
	}
	return n, err
}

// Close tells that the reader is done, at the end or before it.
func (f *FrozenString) Close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
}

// Closed reports whether the reader is done.
func (f *FrozenString) Closed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// pageSums are checksums of pages in builds with invariants: they find who writes to a frozen
// string without having said so.
type pageSums []uint32

func sumPages(b []byte, page int) (s pageSums) {
	if !invariant.Enabled {
		return nil
	}
	for ; len(b) > 0; b = b[min(page, len(b)):] {
		s = append(s, crc32.ChecksumIEEE(b[:min(page, len(b))]))
	}
	return s
}

func (s pageSums) check(i int, page []byte) {
	if invariant.Enabled {
		invariant.Check(crc32.ChecksumIEEE(page) == s[i],
			"object: page %d of a frozen string has changed", i)
	}
}
