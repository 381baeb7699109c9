package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestACLLogLimit checks when a lower acllog-max-len drops entries: at the next refusal that is not
// counted with an older one, as in Redis 8.
func TestACLLogLimit(t *testing.T) {
	l := newLocal(t)
	refuse := func(user string) { l.do(t, argvOf("AUTH", user, "x")) }
	limit := func(n string) { run(t, l, "CONFIG", "SET", "acllog-max-len", n) }
	check := func(want ...string) {
		t.Helper()
		var got []string
		for _, e := range l.do(t, argvOf("ACL", "LOG")).Elems {
			got = append(got, e.Elems[9].Text())
		}
		require.Equal(t, want, got)
	}
	for _, user := range []string{"a", "b", "c"} {
		refuse(user)
	}
	limit("2")
	check("c", "b", "a")
	refuse("a")
	check("a", "c", "b")
	refuse("d")
	check("d", "a")
	limit("0")
	check("d", "a")
	refuse("d")
	check()
}
