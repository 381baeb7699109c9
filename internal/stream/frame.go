package stream

import (
	"encoding/binary"
	"math/bits"
)

// A block of rows has up to rowsPerBlock of them, in ascending order of their IDs. All values are
// numbers without sign. A column keeps what its values exceed a base by, in as few bytes as the
// largest of these differences needs: none if all values are equal. So all rows of a block are
// equally long, and a row and a value are found without looking at others.
//
//	0        8             8·cols    +4
//	+--------+--- … ---+--------+--------+--- … ---+--------+
//	| base of column 0 | base … | widths | rows    | 8 more |
//	+--------+--- … ---+--------+--------+--- … ---+--------+
//	                             4 bits a column
//
// The 8 bytes at the end let 8 bytes be read and written at any value. The first two columns are
// the ID.
const (
	rowsPerBlock = 128
	maxCols      = 5
	rowSlack     = 8
)

// row is the values of a row.
type row [maxCols]uint64

func (r *row) id() ID { return ID{r[0], r[1]} }

// frame is what the beginning of a block says.
type frame struct {
	base row            // of each column
	mask row            // of the bits that a column's differences take
	at   [maxCols]uint8 // of the columns of the first row, from the start of the block
	cols uint8
	size int // of a row
}

func headSize(cols int) int { return 8*cols + 4 }

// blockSize returns the bytes that n rows of that size take.
func blockSize(cols, size, n int) int { return headSize(cols) + size*n + rowSlack }

// maskOf returns the mask of a width, which is at most 8.
func maskOf(width int) uint64 { return masks[width&15] }

var masks = [16]uint64{0, 1<<8 - 1, 1<<16 - 1, 1<<24 - 1, 1<<32 - 1, 1<<40 - 1, 1<<48 - 1,
	1<<56 - 1, 1<<64 - 1}

func widthOf(diff uint64) int { return (bits.Len64(diff) + 7) >> 3 }

func load(b []byte) uint64     { return binary.LittleEndian.Uint64(b) }
func store(b []byte, v uint64) { binary.LittleEndian.PutUint64(b, v) }

// read reads the frame of a block.
func (f *frame) read(b []byte, cols int) {
	f.cols = uint8(cols)
	head := headSize(cols)
	widths := binary.LittleEndian.Uint32(b[head-4:])
	at := head
	for c := range cols {
		w := int(widths & 15)
		widths >>= 4
		f.base[c] = load(b[8*c:])
		f.mask[c] = maskOf(w)
		f.at[c] = uint8(at)
		at += w
	}
	f.size = at - head
}

// write writes the frame to a block.
func (f *frame) write(b []byte) {
	var widths uint32
	for c := int(f.cols) - 1; c >= 0; c-- {
		widths = widths<<4 | uint32(widthOf(f.mask[c]))
		store(b[8*c:], f.base[c])
	}
	binary.LittleEndian.PutUint32(b[8*f.cols:], widths)
}

// setWidth makes the column as wide as differences up to diff need. layOut must follow.
func (f *frame) setWidth(c int, diff uint64) { f.mask[c] = maskOf(widthOf(diff)) }

// layOut finds the columns' places by their widths.
func (f *frame) layOut() {
	head := headSize(int(f.cols))
	at := head
	for c := range f.cols {
		f.at[c] = uint8(at)
		at += widthOf(f.mask[c])
	}
	f.size = at - head
}

// get returns a value of row i.
func (f *frame) get(b []byte, i, c int) uint64 {
	return load(b[i*f.size+int(f.at[c]):])&f.mask[c] + f.base[c]
}

// id returns the ID of row i.
func (f *frame) id(b []byte, i int) ID { return ID{f.get(b, i, 0), f.get(b, i, 1)} }

// row reads row i.
func (f *frame) row(b []byte, i int, r *row) {
	b = b[i*f.size:]
	for c := range f.cols {
		r[c] = load(b[f.at[c]:])&f.mask[c] + f.base[c]
	}
}

// putRow stores row i, which must fit, from column c on. It writes whole words in ascending order,
// which is faster than to keep the bytes behind each value, and puts back what follows the row.
func (f *frame) putRow(b []byte, i, c int, r *row) {
	b = b[i*f.size:]
	end := headSize(int(f.cols)) + f.size
	behind := load(b[end:])
	for ; c < int(f.cols); c++ {
		store(b[f.at[c]:], r[c]-f.base[c])
	}
	store(b[end:], behind)
}

// fits reports whether all values of the row can be stored.
func (f *frame) fits(r *row) bool {
	for c := range f.cols {
		if r[c] < f.base[c] || r[c]-f.base[c] > f.mask[c] {
			return false
		}
	}
	return true
}

// search returns the place of the first of n rows whose ID is not below id, and whether it is id.
// near is a place to look at first.
func (f *idFrame) search(rows []byte, n, near int, id ID) (i int, found bool) {
	if n == 0 {
		return 0, false
	}
	if near+1 < n {
		if f.id(rows, near) == id {
			return near, true
		}
		if f.id(rows, near+1) == id {
			return near + 1, true
		}
	}
	if f.less(rows, n-1, id) != 0 {
		return n, false
	}
	lo := 0
	for n--; n > 0; { // the answer is from lo to lo+n
		half := (n + 1) / 2
		lo += half & -f.less(rows, lo+half-1, id)
		n -= half
	}
	return lo, f.id(rows, lo) == id
}

// idFrame is the part of a frame that is about IDs.
type idFrame struct {
	ms, seq         uint64 // bases
	msMask, seqMask uint64
	msWidth, size   int
}

// read reads what is before the rows.
func (f *idFrame) read(head []byte) {
	widths := binary.LittleEndian.Uint32(head[len(head)-4:])
	f.ms, f.seq = load(head), load(head[8:])
	f.msWidth = int(widths & 15)
	f.msMask, f.seqMask = maskOf(f.msWidth), maskOf(int(widths>>4&15))
	f.size = widthSum(widths)
}

// widthSum adds up widths of 4 bits.
func widthSum(widths uint32) int {
	widths = widths&0x0f0f0f + widths>>4&0x0f0f0f
	return int(widths*0x010101>>16) & 255
}

// valueAt returns a value of row i without the block's frame.
func valueAt(b []byte, cols, i, c int) uint64 {
	head := headSize(cols)
	widths := binary.LittleEndian.Uint32(b[head-4:])
	at := head + i*widthSum(widths) + widthSum(widths&(1<<(4*c)-1))
	return load(b[at:])&maskOf(int(widths>>(4*c)&15)) + load(b[8*c:])
}

// ids returns the part of the frame that is about IDs.
func (f *frame) ids() idFrame {
	return idFrame{f.base[0], f.base[1], f.mask[0], f.mask[1], int(f.at[1] - f.at[0]), f.size}
}

// id returns the ID of row i.
func (f *idFrame) id(rows []byte, i int) ID {
	rows = rows[i*f.size:]
	return ID{load(rows)&f.msMask + f.ms, load(rows[f.msWidth:])&f.seqMask + f.seq}
}

// less returns 1 if the ID of row i is below id, else 0. It does not branch: which way to go is a
// matter of chance.
func (f *idFrame) less(rows []byte, i int, id ID) int {
	r := f.id(rows, i)
	_, below := bits.Sub64(r.Seq, id.Seq, 0)
	_, below = bits.Sub64(r.Ms, id.Ms, below)
	return int(below)
}

// span is the smallest and the largest value of each column.
type span struct{ lo, hi row }

func spanOf(r *row) span { return span{*r, *r} }

func (s *span) add(r *row, cols int) {
	for c := range cols {
		s.lo[c] = min(s.lo[c], r[c])
		s.hi[c] = max(s.hi[c], r[c])
	}
}

// addRows adds n rows of a block.
func (s *span) addRows(f *frame, b []byte, n int) {
	for c := range int(f.cols) {
		lo, hi := s.lo[c], s.hi[c]
		if f.mask[c] == 0 && n > 0 {
			lo, hi = min(lo, f.base[c]), max(hi, f.base[c])
		} else {
			for i := range n {
				v := f.get(b, i, c)
				lo, hi = min(lo, v), max(hi, v)
			}
		}
		s.lo[c], s.hi[c] = lo, hi
	}
}

// frame returns a frame for values in the span. Unless it is to be tight, there is a fourth of the
// span to spare, and what the widths leave lies above and below.
func (s *span) frame(cols int, tight bool) (f frame) {
	f.cols = uint8(cols)
	for c := range cols {
		diff := s.hi[c] - s.lo[c]
		f.base[c] = s.lo[c]
		if tight {
			f.setWidth(c, diff)
			continue
		}
		if more := diff + diff>>2; more >= diff {
			f.setWidth(c, more)
		} else {
			f.setWidth(c, diff)
		}
		f.base[c] -= min(f.base[c], (f.mask[c]-diff)>>2)
	}
	f.layOut()
	return f
}

// recode moves n rows in place from one frame to another. b must be long enough for both.
func recode(b []byte, n int, from, to *frame) {
	var r row
	if to.size > from.size {
		for i := n - 1; i >= 0; i-- {
			from.row(b, i, &r)
			to.putRow(b, i, 0, &r)
		}
	} else {
		for i := range n {
			from.row(b, i, &r)
			to.putRow(b, i, 0, &r)
		}
	}
	to.write(b)
}
