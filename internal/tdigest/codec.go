package tdigest

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

// Saved is a digest as RedisBloom's files have it: nodes in order, as if all were merged.
//
// A node that is not merged yet has half a value more in its weight. RedisBloom drops fractions, so
// it reads what it expects. Godwit continues with exactly the digest that was written, which a
// replica or a log that goes on from a file needs.
type Saved struct {
	Compression  float64
	Min, Max     float64
	Capacity     int64
	Compressions int64
	Weight       float64
	Means        []float64
	Weights      []float64
}

// emptyMin and emptyMax are Min and Max of an empty digest in files.
const emptyMin, emptyMax = math.MaxFloat64, -math.MaxFloat64

// halfLimit is the weight from which on a float has no room for a half.
const halfLimit = 1 << 52

// Saved returns the digest as files have it.
func (d *Digest) Saved() Saved {
	capacity, _ := Capacity(d.Compression)
	r := Saved{
		Compression: float64(d.Compression), Min: d.Min, Max: d.Max, Capacity: capacity,
		Compressions: d.Compressions, Weight: float64(d.Size()),
	}
	if d.Size() == 0 {
		r.Min, r.Max = emptyMin, emptyMax
	}
	type marked struct {
		Node
		merged bool
	}
	all := make([]marked, d.Merged+d.Unmerged)
	for i := range all {
		all[i] = marked{d.Node(int64(i)), int64(i) < d.Merged}
	}
	slices.SortStableFunc(all, func(a, b marked) int { return compareNodes(a.Node, b.Node) })
	for _, n := range all {
		w := float64(n.Weight)
		if !n.merged && n.Weight < halfLimit {
			w += 0.5
		}
		r.Means, r.Weights = append(r.Means, n.Mean), append(r.Weights, w)
	}
	return r
}

// ErrSaved reports numbers of a file that are not a digest.
var ErrSaved = errors.New("tdigest: not a digest")

// Head returns the header of the digest. The error is ErrSaved.
func (r *Saved) Head() ([]byte, error) {
	d, err := r.numbers()
	if err != nil {
		return nil, err
	}
	var merged, unmerged []Node
	for i, mean := range r.Means {
		w := r.Weights[i]
		if !(mean >= d.Min && mean <= d.Max) || !(w >= 1 && w < math.MaxInt64) {
			return nil, ErrSaved
		}
		n := Node{mean, int64(w)}
		if n.Weight > math.MaxInt64-d.Size() {
			return nil, ErrSaved
		}
		if float64(n.Weight) != w {
			unmerged = append(unmerged, n)
			d.UnmergedWeight += n.Weight
		} else {
			merged = append(merged, n)
			d.MergedWeight += n.Weight
		}
	}
	d.Merged, d.Unmerged = int64(len(merged)), int64(len(unmerged))
	slices.SortFunc(merged, compareNodes)
	head := make(headBytes, fixed+max(len(r.Means), firstNodes)*NodeSize)
	d.mem = &head
	New(&head, d.Compression)
	d.save()
	for i, n := range append(merged, unmerged...) {
		n.put(head[fixed+i*NodeSize:])
	}
	return head, nil
}

// numbers returns the digest without nodes.
func (r *Saved) numbers() (*Digest, error) {
	if !(r.Compression >= 1 && r.Compression < math.MaxInt64) {
		return nil, ErrSaved
	}
	d := &Digest{Compression: int64(r.Compression)}
	capacity, ok := Capacity(d.Compression)
	if !ok || int64(len(r.Means)) >= capacity || len(r.Means) != len(r.Weights) ||
		r.Compressions < 0 {
		return nil, ErrSaved
	}
	d.Compressions = r.Compressions
	if len(r.Means) == 0 {
		return d, nil
	}
	if !(r.Min >= -math.MaxFloat64 && r.Min <= r.Max && r.Max <= math.MaxFloat64) {
		return nil, ErrSaved
	}
	d.Min, d.Max = r.Min, r.Max
	return d, nil
}

// headBytes is a header on Go's heap.
type headBytes []byte

func (h *headBytes) Head() []byte { return *h }

func (h *headBytes) ResizeHead(n int) []byte {
	b := make([]byte, n)
	copy(b, *h)
	*h = b
	return b
}

// AppendState appends all that distinguishes two digests, and nothing else.
func (d *Digest) AppendState(dst []byte) []byte {
	dst = append(dst, d.mem.Head()[:fixed]...)
	r := d.Saved()
	for i, mean := range r.Means {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(mean))
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(r.Weights[i]))
	}
	return dst
}
