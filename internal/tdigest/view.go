package tdigest

import "math"

// View is a digest with all nodes merged, for queries. It does not change with the digest.
type View struct {
	nodes    []Node
	total    float64
	min, max float64
}

// View returns a view of the digest as it is now.
func (d *Digest) View() *View {
	v := &View{total: float64(d.Size()), min: d.Min, max: d.Max}
	if d.Unmerged > 0 {
		v.nodes = mergeNodes(d.sorted(), d.Compression, d.Size())
		return v
	}
	b := d.nodes()
	v.nodes = make([]Node, d.Merged)
	for i := range v.nodes {
		v.nodes[i] = getNode(b[i*NodeSize:])
	}
	return v
}

// CDF returns the share of values that are less than x, plus half of those equal to it. Without
// values it is NaN.
func (v *View) CDF(x float64) float64 {
	if len(v.nodes) == 0 {
		return math.NaN()
	}
	w, beyond := v.weight(x)
	if beyond {
		return 1 - w/v.total
	}
	return w / v.total
}

// below returns CDF as a number of values. For single values it is exact, which a product of CDF
// would not be.
func (v *View) below(x float64) float64 {
	w, beyond := v.weight(x)
	if beyond {
		return v.total - w
	}
	return w
}

// weight returns how many values are below x, or, if beyond is true, above it. Those equal to x
// count half. The digest must not be empty.
func (v *View) weight(x float64) (w float64, beyond bool) {
	last := len(v.nodes) - 1
	switch {
	case x < v.min:
		return 0, false
	case x > v.max:
		return 0, true
	case v.min == v.max:
		return v.total / 2, false
	case last == 0:
		return v.total * ((x - v.min) / (v.max - v.min)), false
	case x < v.nodes[0].Mean:
		return tail(x-v.min, v.nodes[0].Mean-v.min, v.nodes[0].Weight), false
	case x > v.nodes[last].Mean:
		return tail(v.max-x, v.max-v.nodes[last].Mean, v.nodes[last].Weight), true
	}
	before := 0.0
	for i := range last {
		n, next := v.nodes[i], v.nodes[i+1]
		if n.Mean == x {
			// Nodes with the same mean count as one.
			same := 0.0
			for _, n := range v.nodes[i:] {
				if n.Mean != x {
					break
				}
				same += float64(n.Weight)
			}
			return before + same/2, false
		}
		if x < next.Mean {
			return before + part(n, next, x), false
		}
		before += float64(n.Weight)
	}
	return 0.5, true // x is the mean of the last node
}

// tail returns how many values lie beyond a distance from the extreme, where x lies between that
// and the outermost node. One value lies at the extreme itself, so the node's half has one value
// less to spread.
func tail(distance, width float64, weight int64) float64 {
	if distance == 0 {
		return 0.5
	}
	return 1 + distance/width*(float64(weight)/2-1)
}

// part returns how many values of two nodes are up to x, which lies between their means.
func part(n, next Node, x float64) float64 {
	w, wNext := float64(n.Weight), float64(next.Weight)
	if n.Weight == 1 && next.Weight == 1 {
		return 1 // nothing lies between two single values
	}
	// A single value lies at its mean: its half does not take part.
	var left, right float64
	switch {
	case n.Weight == 1:
		left = 0.5
	case next.Weight == 1:
		right = 0.5
	}
	// Halves, because the distance of two means may exceed a float.
	share := (x/2 - n.Mean/2) / (next.Mean/2 - n.Mean/2)
	return w/2 + left + ((w+wNext)/2-left-right)*share
}

// Quantile returns a value that a share q of all values, in [0, 1], does not exceed. Without values
// it is NaN.
func (v *View) Quantile(q float64) float64 {
	if len(v.nodes) == 0 {
		return math.NaN()
	}
	return v.at(q * v.total)
}

// at returns the value at the given rank, interpolating between nodes. The digest must not be
// empty.
func (v *View) at(index float64) float64 {
	last := len(v.nodes) - 1
	first, end := v.nodes[0], v.nodes[last]
	half, endHalf := float64(first.Weight)/2, float64(end.Weight)/2
	switch {
	case index < 1:
		return v.min
	case index >= v.total-1:
		return v.max
	case first.Weight > 1 && index < half:
		return blend(v.min, first.Mean, (index-1)/(half-1))
	case end.Weight > 1 && v.total-index <= endHalf:
		return blend(v.max, end.Mean, (v.total-index-1)/(endHalf-1))
	}
	at := half // the weight up to the mean of node i
	for i := range last {
		n, next := v.nodes[i], v.nodes[i+1]
		step := (float64(n.Weight) + float64(next.Weight)) / 2
		if at+step > index {
			return inside(n, next, index-at, at+step-index)
		}
		at += step
	}
	return v.max
}

// blend returns the point that is the given share of the way from a to b. A larger share never
// yields a point farther from b, whatever is rounded. The distance of a and b may overflow: where
// their signs differ, the point is a sum of products.
func blend(a, b, share float64) float64 {
	x := a + (b-a)*share
	if a < 0 != (b < 0) {
		x = a*(1-share) + b*share
	}
	return min(max(x, min(a, b)), max(a, b))
}

// inside returns the value between two nodes at which left and right are the weights that lie
// between it and the nodes' means.
func inside(n, next Node, left, right float64) float64 {
	if n.Weight == 1 {
		if left < 0.5 {
			return n.Mean
		}
		left -= 0.5
	}
	if next.Weight == 1 {
		if right <= 0.5 {
			return next.Mean
		}
		right -= 0.5
	}
	return blend(n.Mean, next.Mean, left/(left+right))
}

// Rank returns how many values are less than x, plus half of those equal to it. It is −1 below all
// values, the number of values above all, and −2 if there are none.
func (v *View) Rank(x float64) int64 {
	switch {
	case len(v.nodes) == 0:
		return -2
	case x < v.min:
		return -1
	case x > v.max:
		return int64(v.total)
	}
	return int64(math.Ceil(v.below(x) - 0.5)) // round halves down
}

// RevRank returns what Rank does, counted from the largest value down.
func (v *View) RevRank(x float64) int64 {
	switch {
	case len(v.nodes) == 0:
		return -2
	case x < v.min:
		return int64(v.total)
	case x > v.max:
		return -1
	}
	return int64(v.total - math.Round(v.below(x)))
}

// ByRank returns the value at a rank, or +Inf from the number of values on.
func (v *View) ByRank(rank int64) float64 {
	switch {
	case len(v.nodes) == 0:
		return math.NaN()
	case rank == 0:
		return v.min
	case float64(rank) >= v.total:
		return math.Inf(1)
	}
	return v.at(float64(rank))
}

// ByRevRank returns what ByRank does, counted from the largest value down. From the number of
// values on, that is −Inf.
func (v *View) ByRevRank(rank int64) float64 {
	switch {
	case len(v.nodes) == 0:
		return math.NaN()
	case rank == 0:
		return v.max
	case float64(rank) >= v.total:
		return math.Inf(-1)
	}
	return v.at(v.total - float64(rank) - 1)
}

// TrimmedMean returns the mean of the values between two quantiles, or NaN if there are none.
func (v *View) TrimmedMean(low, high float64) float64 {
	from, to := math.Floor(v.total*low), math.Ceil(v.total*high)
	before, sum, mean, weight := 0.0, 0.0, 0.0, 0.0
	for _, n := range v.nodes {
		after := before + float64(n.Weight)
		if w := min(after, to) - max(before, from); w > 0 {
			weight += w
			sum += n.Mean * w
			mean = blend(mean, n.Mean, w/weight)
		}
		before = after
	}
	switch {
	case weight == 0:
		return math.NaN()
	case math.IsInf(sum, 0) || math.IsNaN(sum): // the sum exceeds a float
		return mean
	}
	return sum / weight
}
