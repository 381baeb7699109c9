package cell

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"godwit/internal/testseed"

	"github.com/stretchr/testify/require"
)

// epoch is a realistic now.
const epoch = int64(1_790_000_000_123_456_789)

// reply returns a result as the client sees it.
func reply(r Result) [5]int64 {
	var limited int64
	if r.Limited {
		limited = 1
	}
	return [5]int64{limited, r.Limit, r.Remaining, Seconds(r.RetryAfter), Seconds(r.ResetAfter)}
}

// TestNotes runs the example of the notes: 30 in 60 seconds with a burst of 15.
func TestNotes(t *testing.T) {
	rate, err := New(15, 30, 60)
	require.NoError(t, err)
	tat := int64(0)
	for i := range int64(16) {
		var r Result
		tat, r = rate.Throttle(tat, epoch, 1)
		require.Equal(t, [5]int64{0, 16, 15 - i, -1, 2 * (i + 1)}, reply(r))
	}
	after, r := rate.Throttle(tat, epoch, 1)
	require.Equal(t, [5]int64{1, 16, 0, 2, 32}, reply(r))
	require.Equal(t, tat, after, "a refusal changes nothing")
	_, r = rate.Throttle(tat, epoch+2*second-1, 1)
	require.True(t, r.Limited)
	_, r = rate.Throttle(tat, epoch+2*second, 1)
	require.Equal(t, [5]int64{0, 16, 0, -1, 32}, reply(r))
}

func TestQuantity(t *testing.T) {
	rate, err := New(4, 1, 10)
	require.NoError(t, err)
	tat, r := rate.Throttle(0, epoch, 5)
	require.Equal(t, [5]int64{0, 5, 0, -1, 50}, reply(r))
	// A quantity of 0 changes nothing, now or before.
	same, r := rate.Throttle(tat, epoch, 0)
	require.Equal(t, [5]int64{0, 5, 0, -1, 50}, reply(r))
	require.Equal(t, tat, same)
	same, r = rate.Throttle(0, epoch, 0)
	require.Equal(t, [5]int64{0, 5, 5, -1, 0}, reply(r))
	require.Zero(t, same)
	// More than ever fits: trying again is no use.
	for _, q := range []int64{6, 1000, math.MaxInt64} {
		same, r = rate.Throttle(0, epoch, q)
		require.Equal(t, [5]int64{1, 5, 5, -1, 0}, reply(r))
		require.Zero(t, same)
	}
	// A request of exactly the limit may be repeated when the bucket is empty.
	_, r = rate.Throttle(tat, epoch+second, 5)
	require.Equal(t, [5]int64{1, 5, 0, 49, 49}, reply(r))
}

func TestForeignTAT(t *testing.T) {
	rate, err := New(4, 1, 10)
	require.NoError(t, err)
	for _, tat := range []int64{math.MinInt64, -1, 0, epoch} {
		_, r := rate.Throttle(tat, epoch, 1)
		require.Equal(t, [5]int64{0, 5, 4, -1, 10}, reply(r))
	}
	same, r := rate.Throttle(math.MaxInt64, epoch, 1)
	require.True(t, r.Limited)
	require.EqualValues(t, math.MaxInt64, same)
	require.Zero(t, r.Remaining)
	require.EqualValues(t, math.MaxInt64-epoch, r.ResetAfter)
}

func TestNew(t *testing.T) {
	for _, c := range []struct {
		burst, count, period int64
		want                 error
	}{
		{0, 1, 1, nil}, {0, 1e9, 1, nil}, {0, 1, 146 * 365 * 86400, nil},
		{1, 0, 1, ErrZero}, {1, 1, 0, ErrZero}, {0, 0, 0, ErrZero},
		{-1, 1, 1, ErrNegative}, {1, -1, 1, ErrNegative}, {1, 1, -1, ErrNegative},
		{math.MinInt64, 1, 1, ErrNegative}, {0, 1e9 + 1, 1, ErrRange},
		{0, math.MaxInt64, math.MaxInt64, ErrRange}, {math.MaxInt64, 1, 1, ErrRange},
		{math.MaxInt64 - 1, 1, 1, ErrRange}, {0, 1, math.MaxInt64/second + 1, ErrRange},
		{0, 1, math.MaxInt64 / second, ErrRange}, {1, 1, 146 * 365 * 86400, ErrRange},
	} {
		_, err := New(c.burst, c.count, c.period)
		require.Equal(t, c.want, err, "%+v", c)
	}
}

func TestSeconds(t *testing.T) {
	for ns, want := range map[int64]int64{
		-1: -1, 0: 0, 1: 0, millisecond - 1: 0, millisecond: 1, second - 1: 1, second: 1,
		second + millisecond - 1: 1, second + millisecond: 2,
		math.MaxInt64: 9223372037,
	} {
		require.Equal(t, want, Seconds(ns), "%d", ns)
	}
	for ns, want := range map[int64]int64{0: 0, 1: 1, millisecond: 1, millisecond + 1: 2,
		math.MaxInt64: math.MaxInt64/millisecond + 1} {
		require.Equal(t, want, Deadline(ns), "%d", ns)
	}
}

// exact computes the same algorithm from its definition, in numbers of any size.
func exact(burst, count, period, tat, now, quantity int64) (newTAT *big.Int, limited bool) {
	n := big.NewInt
	emission := new(big.Int).Quo(new(big.Int).Mul(n(period), n(second)), n(count))
	tolerance := new(big.Int).Mul(emission, new(big.Int).Add(n(burst), n(1)))
	next := new(big.Int).Add(n(max(tat, now)), new(big.Int).Mul(emission, n(quantity)))
	if n(now).Cmp(new(big.Int).Sub(next, tolerance)) < 0 {
		return n(tat), true
	}
	if quantity == 0 {
		return n(tat), false
	}
	return next, false
}

// randomInt returns a number of any magnitude.
func randomInt(rnd *rand.Rand) int64 { return rnd.Int64() >> rnd.IntN(63) }

func TestExact(t *testing.T) {
	rnd := testseed.Rand(t)
	accepted := 0
	for range 20_000 {
		burst, count, period := randomInt(rnd), randomInt(rnd), randomInt(rnd)
		rate, err := New(burst, count, period)
		if err != nil {
			continue
		}
		accepted++
		now := epoch + randomInt(rnd)>>5
		tat := now + randomInt(rnd)>>1 - randomInt(rnd)>>1
		if rnd.IntN(2) == 0 {
			tat = now + rnd.Int64N(rate.tolerance+1)
		}
		quantity := randomInt(rnd)
		if rnd.IntN(2) == 0 {
			quantity = rnd.Int64N(rate.limit)
		}
		got, r := rate.Throttle(tat, now, quantity)
		want, limited := exact(burst, count, period, tat, now, quantity)
		require.Equal(t, limited, r.Limited, "%d %d %d tat %d now %d quantity %d", burst, count,
			period, tat, now, quantity)
		require.True(t, want.IsInt64() && want.Int64() == got,
			"%d %d %d tat %d now %d quantity %d: %d, want %d", burst, count, period, tat, now,
			quantity, got, want)
		require.GreaterOrEqual(t, r.ResetAfter, int64(0))
		if limited && quantity <= rate.limit {
			_, then := exact(burst, count, period, tat, now+r.RetryAfter, quantity)
			_, before := exact(burst, count, period, tat, now+r.RetryAfter-1, quantity)
			require.True(t, !then && before, "retry after %d is not the first moment", r.RetryAfter)
		} else {
			require.EqualValues(t, -1, r.RetryAfter)
		}
		// What remains would be admitted now, and one more would not.
		if quantity <= rate.limit {
			_, over := exact(burst, count, period, got, now, r.Remaining+1)
			_, under := exact(burst, count, period, got, now, r.Remaining)
			require.True(t, over, "more than %d remain", r.Remaining)
			require.True(t, !under || r.Remaining == 0, "less than %d remain", r.Remaining)
		}
	}
	require.Greater(t, accepted, 500)
}

// TestNeverTooMany lets up to a hundred clients ask as they like, each with its own pauses, while
// the key is forgotten as soon as its deadline has passed. In no window may more be admitted than
// burst + 1 and what the rate gives in that time.
func TestNeverTooMany(t *testing.T) {
	rnd := testseed.Rand(t)
	for round := range 100 {
		burst, count, period := rnd.Int64N(20), 1+rnd.Int64N(1<<rnd.IntN(20)), 1+rnd.Int64N(100)
		rate, err := New(burst, count, period)
		require.NoError(t, err)
		clients := make([]int64, 1+round) // when each asks next
		for i := range clients {
			clients[i] = epoch + rnd.Int64N(rate.tolerance)
		}
		// About half of what is asked for is admitted.
		pause := rate.emission * int64(len(clients)) * 2
		type admission struct{ at, quantity int64 }
		var admitted []admission
		var tat, asked int64
		for range 600 {
			next := 0
			for i := range clients {
				if clients[i] < clients[next] {
					next = i
				}
			}
			now := clients[next]
			if tat != 0 && Deadline(tat) < now/millisecond {
				tat = 0 // expired, as the keyspace sees it
			}
			quantity := 1 + rnd.Int64N(burst+2)*rnd.Int64N(2)
			asked += quantity
			newTAT, r := rate.Throttle(tat, now, quantity)
			if tat = newTAT; !r.Limited {
				admitted = append(admitted, admission{now, quantity})
			}
			clients[next] += rnd.Int64N(pause)
			if rnd.IntN(50) == 0 {
				clients[next] += rate.tolerance * 2
			}
		}
		for i := range admitted {
			sum := int64(0)
			for _, a := range admitted[i:] {
				sum += a.quantity
				// sum ≤ burst + 1 + time ÷ emission, in whole numbers
				if (sum-burst-1)*rate.emission > a.at-admitted[i].at {
					t.Fatalf("burst %d count %d period %d: %d in %d ns", burst, count, period, sum,
						a.at-admitted[i].at)
				}
			}
		}
		require.NotEmpty(t, admitted)
	}
}

func TestNoAllocations(t *testing.T) {
	tat := int64(0)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		rate, _ := New(15, 30, 60)
		tat, _ = rate.Throttle(tat, epoch, 1)
	}))
}
