// Package tdigest implements the t-digest: quantiles of a stream of numbers, most exact at both
// ends, in memory that does not depend on the stream.
//
// # Layout
//
// Everything is in the header, little endian: eight numbers, the merged nodes in order of their
// means, and the unmerged nodes in order of arrival.
//
//	┌───────────────┬───────┬───────┬──────────┬────────────┬─────────────────┬─
//	│ compression 8 │ min 8 │ max 8 │ merged 8 │ unmerged 8 │ merged weight 8 │ …
//	└───────────────┴───────┴───────┴──────────┴────────────┴─────────────────┴─
//	 ─┬───────────────────┬────────────────┬────────┬────────┬─ ─
//	… │ unmerged weight 8 │ compressions 8 │ node 0 │ node 1 │
//	 ─┴───────────────────┴────────────────┴────────┴────────┴─ ─
//
//	node   ┌────────┬──────────┐
//	       │ mean 8 │ weight 8 │   mean: IEEE 754; weight: how many values, at least 1
//	       └────────┴──────────┘
//
// A new value is a node of weight 1. When there are Capacity − 1 nodes, all are sorted, and
// neighbours are merged as long as their weight is small for their place: z = weight·c / (2π·n·ln
// n) must not exceed q(1−q) on either side, where q is the share of values before that point. So
// there are few large nodes in the middle, and many small ones, down to single values, at the ends.
// The header grows with the nodes.
//
// # Reading
//
// A node of weight 1 is exactly one value. Of a heavier node, half the weight is assumed to lie on
// each side of its mean; between two means the result is interpolated. Min and Max are exact.
//
// # Invariants
//
//   - Reading changes nothing: unmerged nodes are merged in a copy. So a replica, which sees no
//     reads, has the same nodes.
//   - The order of arrival of unmerged nodes does not matter: they are sorted by mean and weight.
//   - The sum of the weights is at most 2^63 − 1.
//
// # Cost
//
// Add is O(1), with a sort of Capacity nodes every 5/6 of that many. Reading is O(Capacity), with a
// sort of the unmerged nodes.
//
// # Error
//
// With compression c, about c/2 nodes remain. At quantile q the error of rank is of the order of
// q(1−q)·2π·ln(n)/c.
//
// Source: Dunning and Ertl, "Computing extremely accurate quantiles using t-digests" (2019).
// Capacity and scale are RedisBloom's.
package tdigest

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

const (
	// NodeSize is the size of a node in bytes.
	NodeSize = 16
	// DefaultCompression is the compression of a digest created without one.
	DefaultCompression = 100

	firstNodes = 8
)

// ErrOverflow reports more values than 63 bits can count.
var ErrOverflow = errors.New("tdigest: overflow")

// Memory holds the header.
type Memory interface {
	// Head returns the header, for writing.
	Head() []byte
	// ResizeHead changes the header's length. It keeps what fits; new bytes are zero.
	ResizeHead(n int) []byte
}

// Digest is an open digest. When its methods return, their changes are in the memory.
type Digest struct {
	Compression int64 // at least 1
	Summary
	mem Memory
}

// Summary is what changes in a digest, apart from its nodes.
type Summary struct {
	Min, Max                     float64 // 0 while there are no values
	Merged, Unmerged             int64   // numbers of nodes
	MergedWeight, UnmergedWeight int64
	Compressions                 int64 // how often nodes were merged
}

// Node stands for some values that are close to each other.
type Node struct {
	Mean   float64
	Weight int64
}

// Capacity returns the most nodes of a digest. It reports false if that exceeds the limits.
func Capacity(compression int64) (nodes int64, ok bool) {
	if compression > (math.MaxInt64/NodeSize-10)/6 {
		return 0, false
	}
	return 6*compression + 10, true
}

// The offsets of the header's numbers.
const (
	offCompression    = 0
	offMin            = 8
	offMax            = 16
	offMerged         = 24
	offUnmerged       = 32
	offMergedWeight   = 40
	offUnmergedWeight = 48
	offCompressions   = 56
	fixed             = 64
)

// FirstSize is the length of the header in bytes of a digest without values.
const FirstSize = fixed + firstNodes*NodeSize

// New makes an empty digest in a header of FirstSize zero bytes.
func New(mem Memory, compression int64) *Digest {
	binary.LittleEndian.PutUint64(mem.Head()[offCompression:], uint64(compression))
	return &Digest{Compression: compression, mem: mem}
}

// Open returns the digest in the memory.
func Open(mem Memory) *Digest {
	head := mem.Head()
	num := func(off int) int64 { return int64(binary.LittleEndian.Uint64(head[off:])) }
	flt := func(off int) float64 { return math.Float64frombits(uint64(num(off))) }
	return &Digest{num(offCompression), Summary{
		flt(offMin), flt(offMax), num(offMerged), num(offUnmerged), num(offMergedWeight),
		num(offUnmergedWeight), num(offCompressions),
	}, mem}
}

func (d *Digest) save() {
	head := d.mem.Head()
	for i, n := range [...]uint64{
		math.Float64bits(d.Min), math.Float64bits(d.Max), uint64(d.Merged), uint64(d.Unmerged),
		uint64(d.MergedWeight), uint64(d.UnmergedWeight), uint64(d.Compressions),
	} {
		binary.LittleEndian.PutUint64(head[offMin+8*i:], n)
	}
}

func (d *Digest) nodes() []byte { return d.mem.Head()[fixed:] }

// Size returns the number of values.
func (d *Digest) Size() int64 { return d.MergedWeight + d.UnmergedWeight }

// Node returns node i, the merged nodes first.
func (d *Digest) Node(i int64) Node { return getNode(d.nodes()[i*NodeSize:]) }

func getNode(b []byte) Node {
	return Node{math.Float64frombits(binary.LittleEndian.Uint64(b)),
		int64(binary.LittleEndian.Uint64(b[8:]))}
}

func (n Node) put(b []byte) {
	binary.LittleEndian.PutUint64(b, math.Float64bits(n.Mean))
	binary.LittleEndian.PutUint64(b[8:], uint64(n.Weight))
}

// Reset removes all values.
func (d *Digest) Reset() {
	d.Summary = Summary{}
	d.mem.ResizeHead(FirstSize)
	d.save()
}

// Add adds the value weight times. The value must be finite. After ErrOverflow nothing has changed.
func (d *Digest) Add(v float64, weight int64) error {
	if weight > math.MaxInt64-d.Size() {
		return ErrOverflow
	}
	capacity, _ := Capacity(d.Compression)
	if d.Merged+d.Unmerged >= capacity-1 {
		d.Compress()
	}
	if d.Size() == 0 {
		d.Min, d.Max = v, v
	}
	d.Min, d.Max = min(d.Min, v), max(d.Max, v)
	at := int(d.Merged+d.Unmerged) * NodeSize
	if have := len(d.nodes()); at+NodeSize > have {
		d.mem.ResizeHead(fixed + int(min(int64(2*have), capacity*NodeSize)))
	}
	Node{v, weight}.put(d.nodes()[at:])
	d.Unmerged++
	d.UnmergedWeight += weight
	d.save()
	return nil
}

// Merge adds the values of another digest, which may be d itself. After ErrOverflow nothing has
// changed.
func (d *Digest) Merge(from *Digest) error {
	if from.Size() > math.MaxInt64-d.Size() {
		return ErrOverflow
	}
	if from.Size() == 0 {
		return nil
	}
	lo, hi := from.Min, from.Max
	for _, n := range from.View().nodes {
		if err := d.Add(n.Mean, n.Weight); err != nil {
			return err
		}
	}
	d.Min, d.Max = min(d.Min, lo), max(d.Max, hi)
	d.save()
	return nil
}

// Compress merges the unmerged nodes.
func (d *Digest) Compress() {
	if d.Unmerged == 0 {
		return
	}
	nodes := mergeNodes(d.sorted(), d.Compression, d.Size())
	capacity, _ := Capacity(d.Compression)
	nodes = squeeze(nodes, int(capacity*3/4))
	b := d.nodes()
	for i, n := range nodes {
		n.put(b[i*NodeSize:])
	}
	d.MergedWeight, d.UnmergedWeight = d.Size(), 0
	d.Merged, d.Unmerged = int64(len(nodes)), 0
	d.Compressions++
	d.save()
}

func compareNodes(a, b Node) int {
	return cmp.Or(cmp.Compare(a.Mean, b.Mean), cmp.Compare(a.Weight, b.Weight))
}

// sorted returns a copy of all nodes, in order.
func (d *Digest) sorted() []Node {
	b := d.nodes()
	nodes := make([]Node, d.Merged+d.Unmerged)
	for i := range nodes {
		nodes[i] = getNode(b[i*NodeSize:])
	}
	slices.SortFunc(nodes, compareNodes)
	return nodes
}

// mergeNodes merges neighbours in place. total is the sum of all weights.
func mergeNodes(nodes []Node, compression, total int64) []Node {
	if total <= 1 {
		return nodes
	}
	n := float64(total)
	normalizer := float64(compression) / (2 * math.Pi * n * math.Log(n))
	cur := 0
	before := 0.0 // weight before nodes[cur]
	for _, next := range nodes[1:] {
		c := &nodes[cur]
		proposed := float64(c.Weight) + float64(next.Weight)
		z := proposed * normalizer
		q0, q2 := before/n, (before+proposed)/n
		if z <= q0*(1-q0) && z <= q2*(1-q2) {
			c.absorb(next)
			continue
		}
		before += float64(c.Weight)
		cur++
		nodes[cur] = next
	}
	return nodes[:cur+1]
}

// squeeze merges neighbours, in place, until there are at most limit nodes, lightest pairs first.
// Digests within double precision are far below the limit. Beyond it, as after merging a digest
// with itself fifty times, mergeNodes takes light nodes behind heavy ones for extremes and keeps
// them all.
func squeeze(nodes []Node, limit int) []Node {
	for most := int64(2); len(nodes) > limit; most = max(most, 2*most) {
		cur := 0
		for _, next := range nodes[1:] {
			if c := &nodes[cur]; c.Weight <= most-next.Weight {
				c.absorb(next)
				continue
			}
			cur++
			nodes[cur] = next
		}
		nodes = nodes[:cur+1]
	}
	return nodes
}

// absorb adds a node to n. Its mean must be at least n's.
func (n *Node) absorb(m Node) {
	n.Weight += m.Weight
	share := float64(m.Weight) / float64(n.Weight)
	mean := n.Mean + (m.Mean-n.Mean)*float64(m.Weight)/float64(n.Weight)
	if math.IsInf(mean, 0) || math.IsNaN(mean) { // the distance exceeds a float
		mean = n.Mean*(1-share) + m.Mean*share
	}
	n.Mean = min(max(mean, n.Mean), m.Mean)
}
