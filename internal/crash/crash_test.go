package crash

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// catch collects reports and notes ends until the test is over.
func catch(t *testing.T, facts func() []string) (reports *[]string, ended *int) {
	reports, ended = new([]string), new(int)
	Report(Reporter{Write: func(r []byte) { *reports = append(*reports, string(r)) }, Facts: facts})
	process.exit = func(int) { *ended++ }
	process.contained = 0
	t.Cleanup(func() {
		Report(Reporter{})
		process.exit = nil
	})
	return reports, ended
}

func TestContain(t *testing.T) {
	reports, ended := catch(t, func() []string { return []string{"a fact", "another"} })
	require.False(t, Contain("nothing", func() {}))
	require.Empty(t, *reports)
	require.True(t, Contain("testing", func() { panic(errors.New("a fault")) }))
	require.Len(t, *reports, 1)
	for _, want := range []string{"BUG REPORT START", "goes on: testing", "a fault",
		"a fact\nanother",
		"TestContain", "BUG REPORT END"} {
		require.Contains(t, (*reports)[0], want)
	}
	for range 2 * maxContained {
		require.True(t, Contain("testing", func() { _ = []int{}[len(*reports)] }))
	}
	require.Len(t, *reports, 2*maxContained+1)
	last := (*reports)[2*maxContained]
	require.Contains(t, last, "index out of range")
	require.Less(t, strings.Count(last, "\n"), 5,
		"who repeats it fills the log with lines, not with stacks")
	require.Zero(t, *ended)
}

func TestGuard(t *testing.T) {
	reports, ended := catch(t, func() []string { panic("in the middle of a change") })
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer Guard("a goroutine")()
		m := map[string]func(){}
		m["missing"]()
	}()
	<-done
	require.Equal(t, 1, *ended)
	require.Len(t, *reports, 1)
	for _, want := range []string{"crashed by a panic: a goroutine", "nil pointer dereference",
		"more cannot be told: in the middle"} {
		require.Contains(t, (*reports)[0], want)
	}
}
