package stream

// rowsBuilder packs ascending rows into blocks on Go's heap.
type rowsBuilder struct {
	cols   int
	n      int
	buf    []byte // blocks, one behind the other
	blocks []builtBlock
	rows   []row // of the block that is being filled
}

// builtBlock is a block of a rowsBuilder.
type builtBlock struct {
	first ID
	size  int
	live  int
	low   int64
}

func (b *rowsBuilder) init(cols int) { b.cols = cols }

// add adds a row, whose ID comes behind all before.
func (b *rowsBuilder) add(r *row) {
	if b.n++; len(b.rows) == rowsPerBlock {
		b.pack()
	}
	b.rows = append(b.rows, *r)
}

// end packs the last block.
func (b *rowsBuilder) end() {
	if len(b.rows) > 0 {
		b.pack()
	}
	b.rows = nil
}

func (b *rowsBuilder) pack() {
	s, low := spanOf(&b.rows[0]), int64(maxLow)
	for i := range b.rows {
		s.add(&b.rows[i], b.cols)
		low = min(low, lowOf(b.cols, &b.rows[i]))
	}
	f := s.frame(b.cols, true)
	size := blockSize(b.cols, f.size, len(b.rows))
	at := len(b.buf)
	b.buf = append(b.buf, make([]byte, size)...)
	f.write(b.buf[at:])
	for i := range b.rows {
		f.putRow(b.buf[at:], i, 0, &b.rows[i])
	}
	b.blocks = append(b.blocks, builtBlock{b.rows[0].id(), size, len(b.rows), low})
	b.rows = b.rows[:0]
}

// build copies the blocks to rows that are empty.
func (b *rowsBuilder) build(x *rows) {
	was := x.weight()
	buf := b.buf
	for _, from := range b.blocks {
		x.insertCopy(block{first: from.first, live: from.live, low: from.low}, buf[:from.size])
		buf = buf[from.size:]
	}
	x.n = b.n
	x.total.add(x.weight() - was)
}
