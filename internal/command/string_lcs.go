package command

import (
	"math/bits"

	"godwit/internal/engine"
	"godwit/internal/object"
)

type lcsOptions struct {
	length, index, withLen bool
	minLen                 int64
}

func (o *lcsOptions) parse(c *engine.Ctx, args [][]byte) bool {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case is(arg, "idx"):
			o.index = true
		case is(arg, "len"):
			o.length = true
		case is(arg, "withmatchlen"):
			o.withLen = true
		case is(arg, "minmatchlen") && i+1 < len(args):
			i++
			n, ok := intArg(c, args[i])
			if !ok {
				return false
			}
			o.minLen = n
		default:
			c.Err(engine.ErrSyntax)
			return false
		}
	}
	if o.length && o.index {
		c.Err("ERR If you want both the length and indexes, please just use IDX.")
		return false
	}
	return true
}

// lcsCell is the size of one cell of Redis's table, in bytes. Redis's limit on the table applies
// here too, although this table is 32 times smaller.
const lcsCell = 4

func lcsCmd(c *engine.Ctx) {
	ea := c.DB.LookupRead(c.Args[1])
	// The second lookup may delete an expired key. It cannot delete the first key, which was alive
	// a moment ago.
	eb := c.DB.LookupRead(c.Args[2])
	if ea.Exists() && ea.Type() != object.String || eb.Exists() && eb.Type() != object.String {
		c.Err("ERR The specified keys must contain string values")
		return
	}
	var o lcsOptions
	if !o.parse(c, c.Args[3:]) {
		return
	}
	var bufA, bufB [24]byte
	var a, b []byte
	if ea.Exists() {
		a = c.DB.StringBytes(ea, &bufA)
	}
	if eb.Exists() {
		b = c.DB.StringBytes(eb, &bufB)
	}
	if limit := c.E.Cfg.ProtoMaxBulkLen / lcsCell; int64(len(a)+1) > limit/int64(len(b)+1) {
		c.Err("ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len")
		return
	}
	t := newLCSTable(a, b, !o.length)
	switch {
	case o.length:
		c.Int(int64(t.length))
	case o.index:
		t.replyIndex(c, &o)
	default:
		c.Bulk(t.sequence())
	}
}

// lcsTable holds the lengths of the longest common subsequences of all prefixes of a and b. It
// keeps only what the way back needs: one bit for each cell.
//
// Let L(i, j) be the length for a[:i] and b[:j]. Along a row, each step adds 0 or 1 to L. Bit j-1
// of row i-1 is 0 where L(i, j) is L(i, j-1) + 1. A row follows from the one above, 64 cells at a
// time (Hyyrö, "Bit-Parallel LCS-length Computation Revisited", 2004): with M the bits where b
// holds a's byte and V the row above, V' = (V + (V & M)) | (V &^ M).
//
// The way back is Redis's. Where the bytes are equal, it goes one step back in both strings. Else
// it goes back in a if L(i-1, j) > L(i, j-1), which holds exactly where L grew at (i, j), and
// otherwise in b.
//
// The time is O(len(a) len(b) / 64). The rows take len(a) len(b) / 8 bytes. M takes one row for
// each distinct byte of a.
type lcsTable struct {
	a, b   []byte
	words  int      // The number of words in a row.
	rows   []uint64 // All rows if the way back is wanted, else the last one.
	keep   bool
	length int
}

func newLCSTable(a, b []byte, keep bool) *lcsTable {
	t := &lcsTable{a: a, b: b, words: (len(b) + 63) / 64, keep: keep}
	if len(a) == 0 || len(b) == 0 {
		return t
	}
	n := 1
	if keep {
		n = len(a)
	}
	t.rows = make([]uint64, n*t.words)
	var masks [256][]uint64
	for _, ch := range a {
		if masks[ch] == nil {
			masks[ch] = make([]uint64, t.words)
		}
	}
	for j, ch := range b {
		if m := masks[ch]; m != nil {
			m[j/64] |= 1 << (j % 64)
		}
	}
	first := make([]uint64, t.words)
	for i := range first {
		first[i] = ^uint64(0)
	}
	above := first
	for i, ch := range a {
		row := t.row(i)
		nextRow(row, above, masks[ch])
		above = row
	}
	t.length = zeros(above, len(b))
	return t
}

// row returns row i. If the rows are not kept, all share the same memory.
func (t *lcsTable) row(i int) []uint64 {
	if !t.keep {
		i = 0
	}
	return t.rows[i*t.words : (i+1)*t.words]
}

// nextRow computes a row from the one above. Both may be the same memory.
func nextRow(row, above, mask []uint64) {
	var carry uint64
	for w, v := range above {
		var sum uint64
		sum, carry = bits.Add64(v, v&mask[w], carry)
		row[w] = sum | v&^mask[w]
	}
}

// zeros returns the number of zeros among the first n bits.
func zeros(row []uint64, n int) int {
	count := 0
	for w, v := range row {
		if left := n - w*64; left < 64 {
			v |= ^uint64(0) << left
		}
		count += bits.OnesCount64(^v)
	}
	return count
}

// grew reports whether L(i, j) > L(i, j-1).
func (t *lcsTable) grew(i, j int) bool {
	return t.row(i - 1)[(j-1)/64]>>((j-1)%64)&1 == 0
}

// walk goes back from the ends of both strings. It calls match for every pair of equal bytes on the
// way, from the last to the first.
func (t *lcsTable) walk(match func(i, j int)) {
	for i, j := len(t.a), len(t.b); i > 0 && j > 0; {
		switch {
		case t.a[i-1] == t.b[j-1]:
			i--
			j--
			match(i, j)
		case t.grew(i, j):
			i--
		default:
			j--
		}
	}
}

// sequence returns the longest common subsequence.
func (t *lcsTable) sequence() []byte {
	seq := make([]byte, t.length)
	n := t.length
	t.walk(func(i, _ int) {
		n--
		seq[n] = t.a[i]
	})
	return seq
}

// lcsRange is n equal bytes in a row, from i in a and from j in b.
type lcsRange struct{ i, j, n int }

// replyIndex replies with the matching ranges, the last first, and the length.
func (t *lcsTable) replyIndex(c *engine.Ctx, o *lcsOptions) {
	var found []lcsRange
	var r lcsRange
	end := func() {
		if r.n > 0 && int64(r.n) >= o.minLen {
			found = append(found, r)
		}
	}
	t.walk(func(i, j int) {
		if r.n > 0 && i == r.i-1 && j == r.j-1 {
			r.i, r.j, r.n = i, j, r.n+1
			return
		}
		end()
		r = lcsRange{i, j, 1}
	})
	end()
	c.Map(2)
	c.BulkString("matches")
	c.Array(len(found))
	for _, r := range found {
		if o.withLen {
			c.Array(3)
		} else {
			c.Array(2)
		}
		for _, at := range [2]int{r.i, r.j} {
			c.Array(2)
			c.Int(int64(at))
			c.Int(int64(at + r.n - 1))
		}
		if o.withLen {
			c.Int(int64(r.n))
		}
	}
	c.BulkString("len")
	c.Int(int64(t.length))
}
