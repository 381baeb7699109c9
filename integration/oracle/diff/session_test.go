package diff

import "testing"

// TestTooManyCrashes checks when faults of the reference fail a run.
func TestTooManyCrashes(t *testing.T) {
	for _, c := range []struct {
		rounds, crashes int
		want            bool
	}{{1, 1, false}, {4, 3, false}, {4, 4, true}, {60, 5, false}, {60, 12, false}, {60, 13, true}} {
		s := &Session{Rounds: c.rounds, Crashes: c.crashes}
		if err := s.tooManyCrashes(); (err != nil) != c.want {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
