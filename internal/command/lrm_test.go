package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestIdleSinceChange checks that under an LRM policy a key is idle since its last change. Whether
// a command changes the key is what WATCH says of it.
func TestIdleSinceChange(t *testing.T) {
	compared := 0
	for _, c := range watchedChanges {
		if strings.Contains(c.change, "SWAPDB") {
			continue // Another key is there then.
		}
		l := newLocal(t)
		l.lines(t, "CONFIG SET maxmemory-policy allkeys-lrm; "+c.setup)
		if !l.age(100) {
			continue
		}
		l.lines(t, c.change)
		l.lines(t, "SELECT 0; EXISTS k; TYPE k; DUMP k; OBJECT ENCODING k")
		want := "(integer) 100"
		if c.dirty {
			want = "(integer) 0"
		}
		if got := l.line(t, "OBJECT IDLETIME k"); got != "(nil)" {
			require.Equal(t, want, got, "%q, then %q", c.setup, c.change)
			compared++
		}
	}
	require.Greater(t, compared, 20)
}

// age lets the key k of database 0 be idle for so many seconds. It reports whether there is one.
func (l *local) age(seconds uint32) bool {
	l.e.Enter()
	defer l.e.Leave()
	e := l.e.KS.DB(0).Peek([]byte("k"))
	if e.Exists() {
		e.SetLRU((e.LRU() - seconds) & 0xffffff)
	}
	return e.Exists()
}

// TestIdleOfCopies checks the idle times of keys that commands make from others under LRM, and that
// of RESTORE IDLETIME. Seconds may pass meanwhile.
func TestIdleOfCopies(t *testing.T) {
	for _, c := range []struct {
		commands string
		idle     int
	}{
		{"COPY k c; OBJECT IDLETIME c", 0},
		{"COPY k c; OBJECT IDLETIME k", 100},
		{"RENAME k c; OBJECT IDLETIME c", 0},
		{"GET k; GETEX k; TOUCH k; STRLEN k; OBJECT IDLETIME k", 100},
		{"GETEX k EX 100; OBJECT IDLETIME k", 0},
		{"EXPIRE k 100; OBJECT IDLETIME k", 0},
		{"CLIENT NO-TOUCH ON; APPEND k x; OBJECT IDLETIME k", 0},
		{"CONFIG SET maxmemory-policy allkeys-lru; GET k; OBJECT IDLETIME k", 0},
	} {
		l := newLocal(t)
		l.lines(t, "CONFIG SET maxmemory-policy volatile-lrm; SET k v")
		l.age(100)
		requireIdle(t, c.idle, l.lines(t, c.commands), c.commands)
	}
	l := newLocal(t)
	l.lines(t, "CONFIG SET maxmemory-policy allkeys-lrm; SET k v")
	payload := run(t, l, "DUMP", "k").Str
	run(t, l, "RESTORE", "k", "0", payload, "REPLACE", "IDLETIME", "77")
	requireIdle(t, 77, l.line(t, "OBJECT IDLETIME k"), "RESTORE")
}

// requireIdle checks an idle time of want seconds, or some more on a busy machine.
func requireIdle(t *testing.T, want int, got, of string) {
	t.Helper()
	var idle int
	_, err := fmt.Sscanf(got, "(integer) %d", &idle)
	require.NoError(t, err, got)
	require.GreaterOrEqual(t, idle, want, of)
	require.Less(t, idle, want+30, of)
}
