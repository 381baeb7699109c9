package boottime

import (
	"testing"
	"time"
)

// TestNow compares the clock with Go's monotonic one over a short while.
func TestNow(t *testing.T) {
	before, from := time.Now(), Now()
	time.Sleep(5 * time.Millisecond)
	to := Now()
	if passed, most := to-from, int64(time.Since(before)); passed < 5e6 || passed > most {
		t.Errorf("%d ns have passed, of at most %d", passed, most)
	}
}

func BenchmarkNow(b *testing.B) {
	for range b.N {
		Now()
	}
}
