package metrics

// rateSamples is how many samples a Rate averages, as in Redis. At one each 100 ms that is 1.6 s.
const rateSamples = 16

// Rate derives "per second, right now" from a counter that only grows: instantaneous_ops_per_sec,
// instantaneous_input_kbps (bytes; the caller divides by 1024) and their like in INFO.
type Rate struct {
	samples [rateSamples]int64
	next    int
	at      int64 // ms of the last sample
	count   int64 // the counter at that time
}

// Start drops all samples and takes count as the counter's value at nowMs.
func (r *Rate) Start(nowMs, count int64) { *r = Rate{at: nowMs, count: count} }

// Sample takes the counter's value at nowMs. Call it about ten times a second.
func (r *Rate) Sample(nowMs, count int64) {
	r.add(nowMs, count, 1000)
}

// SampleMean takes the value of a sum, and of how many it is the sum. It is for a Rate that is no
// rate but a mean: of what was added per time that something was.
func (r *Rate) SampleMean(n, sum int64) { r.add(n, sum, 1) }

func (r *Rate) add(at, count, scale int64) {
	var sample int64
	if d := at - r.at; d > 0 {
		sample = (count - r.count) * scale / d
	}
	r.samples[r.next] = sample
	r.next = (r.next + 1) % rateSamples
	r.at, r.count = at, count
}

// Mean returns the mean of the last 16 samples of SampleMean.
func (r *Rate) Mean() int64 { return r.PerSecond() }

// PerSecond returns the mean of the last 16 samples. Samples missing after Start count as 0.
func (r *Rate) PerSecond() int64 {
	var sum int64
	for _, s := range r.samples {
		sum += s
	}
	return sum / rateSamples
}
