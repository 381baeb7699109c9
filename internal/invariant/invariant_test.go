package invariant

import "testing"

func TestCheck(t *testing.T) {
	panicked := func(ok bool) (p bool) {
		defer func() { p = recover() != nil }()
		Check(ok, "value %d", 7)
		return false
	}
	if panicked(true) {
		t.Error("Check(true) panicked")
	}
	if got := panicked(false); got != Enabled {
		t.Errorf("Check(false) panicked: %v, want %v", got, Enabled)
	}
}
