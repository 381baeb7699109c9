package topk

// float returns the next random number, in [0, 1).
func (l *List) float() float64 {
	l.state += 0x9e3779b97f4a7c15
	z := l.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return float64(z>>11) / (1 << 53)
}

// power returns decay^n. It only multiplies, so the result is the same on every machine.
func power(decay float64, n uint32) float64 {
	r := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			r *= decay
		}
		decay *= decay
	}
	return r
}

// decay gives a count above 0 n chances to go down. If the count reaches 0, it returns how many
// chances are left, with the last one used among them. It returns n if the count did not change,
// and 0 if it changed and is not 0.
func (l *List) decay(count *uint32, n uint32) (left uint32) {
	was := *count
	if l.Decay == 1 {
		c := min(*count, n)
		if *count -= c; *count == 0 {
			return n - c + 1
		}
		return 0
	}
	for left = n; ; {
		missed := l.missed(power(l.Decay, *count), left)
		if missed >= left {
			break
		}
		left -= missed
		if *count--; *count == 0 {
			return left
		}
		if left--; left == 0 {
			break
		}
	}
	if *count == was {
		return n
	}
	return 0
}

// missed returns how many chances in a row fail if each succeeds with probability p; n if all do.
// One by one that would take 1/p steps. Where that is many, the number is drawn at once: more than
// m fail with probability (1−p)^m.
func (l *List) missed(p float64, n uint32) uint32 {
	if p >= 1.0/8 {
		for i := range n {
			if l.float() < p {
				return i
			}
		}
		return n
	}
	u := l.float()
	var powers [17]float64 // (1−p)^1, ^2, ^4 …; MaxIncrement is below twice the last exponent
	powers[0] = 1 - float64(p)
	for i := 1; i < len(powers); i++ {
		powers[i] = float64(powers[i-1] * powers[i-1])
	}
	var m uint32
	acc := 1.0
	for i := len(powers) - 1; i >= 0; i-- {
		if t := float64(acc * powers[i]); t > u {
			acc, m = t, m+1<<i
		}
	}
	return min(m, n)
}
