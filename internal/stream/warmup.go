package stream

// WarmupMax is how many entries a Warmup takes.
const WarmupMax = 16

// warmFrom is the memory in bytes from which the entries of a stream do not fit the nearer caches.
// Below it two searches are slower than one that waits.
const warmFrom = 256 << 10

// Warmup brings into the cache what commands on single entries of large streams will read: it takes
// note of the entries, then finds the blocks of all. So their misses overlap. It changes nothing,
// and nothing may be changed between the calls.
//
//	w.Entry(…)   for each command
//	w.Run()
//
// What groups have pending is left out. It takes a tenth of the memory, and is searched for in two
// places one of which depends on the other: to look twice cost more than it saved.
type Warmup struct {
	n        int
	searches [WarmupMax]blockSearch
}

// blockSearch is the way to the block of an entry.
type blockSearch struct {
	x  *index
	id ID
}

// WarmupWorth reports whether the stream is so large that its commands wait for memory.
func (s *Stream) WarmupWorth() bool { return s.entries.bytes >= warmFrom }

// countLarge is called when a stream has grown by a block.
func (s *Stream) countLarge() {
	if !s.entries.large && s.WarmupWorth() {
		s.entries.large = true
		s.sh.Large++
	}
}

// Entry notes that an entry, which may be missing, will be read or deleted. It begins to fetch the
// part of the page where the entry's block should be.
func (w *Warmup) Entry(s *Stream, id ID) {
	x := &s.entries
	i := x.pageOf(id)
	if i < 0 || w.n == len(w.searches) {
		return
	}
	w.searches[w.n] = blockSearch{x, id}
	w.n++
	pg := &x.pages[i]
	at := max(x.guess(i, id)-warmBlocks/2, 0) * blockInfo
	for end := min(at+warmBlocks*blockInfo, int(pg.n)*blockInfo); at < end; at += cacheLine {
		x.sh.A.Prefetch(pg.ref, at)
	}
}

// Run finds the blocks and begins to fetch them. It forgets what was noted.
func (w *Warmup) Run() {
	for i := range w.searches[:w.n] {
		s := &w.searches[i]
		var d block
		p, _ := s.x.find(s.id)
		s.x.load(p, &d)
		s.x.fetch(&d, warmBytes)
		s.x = nil
	}
	w.n = 0
}

const (
	warmBlocks = 5   // descriptors that are fetched around where the block should be
	warmBytes  = 256 // of a block: it is read from the start on, and the processor goes on
)

// fetch starts to bring a block into the cache, or so many bytes of it.
func (x *index) fetch(d *block, most int) {
	for off := 0; off < min(d.n, most); off += cacheLine {
		x.sh.A.Prefetch(d.ref, off)
	}
}

const cacheLine = 64
