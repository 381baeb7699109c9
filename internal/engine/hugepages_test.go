package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/internal/engine"
)

// TestHugeRests checks that batches take a share of the time, and that trouble brings pauses that
// double, up to a bound, until there is none.
func TestHugeRests(t *testing.T) {
	const s = time.Second
	got := engine.HugeRests(s/200, true, true, true, false, true)
	if want := []time.Duration{s, 2 * s, 4 * s, s / 10, s}; !slices.Equal(got, want) {
		t.Errorf("rests %v, want %v", got, want)
	}
	got = engine.HugeRests(s, slices.Repeat([]bool{true}, 20)...)
	if last := got[19]; got[0] != 20*s || last != 300*s {
		t.Errorf("rests %v", got)
	}
}

// TestFullMemoryBecomesHuge checks that the cron has memory collapsed that stays full, and that
// nothing is lost by it.
func TestFullMemoryBecomesHuge(t *testing.T) {
	s := newSession(t, nil)
	value := strings.Repeat("v", 1000)
	const keys = 12000
	for i := range keys {
		s.ok("set", fmt.Sprintf("key:%d", i), fmt.Sprint(value, i))
	}
	for deadline := time.Now().Add(time.Minute); s.e.KS.A.HugeBytes() == 0; {
		s.e.Enter()
		s.e.PassTime(100 * time.Millisecond)
		s.e.Cron()
		s.e.Leave()
		if s.e.HugeRefused() {
			t.Skip("the system gives no huge pages")
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing has become huge")
		}
		time.Sleep(time.Millisecond)
	}
	for i := range keys {
		want := fmt.Sprint(value, i)
		if got := s.raw("get", fmt.Sprintf("key:%d", i)); !strings.HasSuffix(got, want+"\r\n") {
			t.Fatalf("key %d holds %q", i, got)
		}
	}
}
