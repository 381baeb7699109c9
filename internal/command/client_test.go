package command

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"godwit/internal/engine"
	"godwit/internal/testseed"
)

// addClients adds sixty clients of random properties.
func addClients(t *testing.T, l *local) {
	rnd := testseed.Rand(t)
	pick := func(s ...string) string { return s[rnd.IntN(len(s))] }
	l.e.Enter()
	for i := range 60 {
		c := l.e.NewClient(nil)
		c.Addr = fmt.Sprintf("%s:%d", pick("10.0.0.1", "10.0.0.2", "[::1]"), 1000+i)
		c.LAddr = pick("10.0.0.9:6379", "10.0.0.8:6379")
		c.Name, c.LibName, c.LibVer = pick("", "a", "b"), pick("", "go-redis"), pick("", "1", "2")
		c.NoEvict, c.NoTouch, c.Unix = rnd.IntN(2) == 0, rnd.IntN(2) == 0, rnd.IntN(4) == 0
		c.Redirects = rnd.IntN(2) == 0
		c.Class = engine.Class(rnd.IntN(3))
		// No age comes to a round ten seconds while the test runs.
		c.Created -= rnd.Int64N(2)*10_000 + rnd.Int64N(5000)
		c.LastUsed -= rnd.Int64N(2)*10_000 + rnd.Int64N(5000)
		l.e.SelectDB(c, rnd.IntN(3))
	}
	l.e.Leave()
}

// TestClientFilters compares every filter, and its opposite, with a predicate over the same
// clients.
func TestClientFilters(t *testing.T) {
	l := newLocal(t)
	addClients(t, l)
	seconds := func(now, then int64) int64 { return (now - then) / 1000 }
	for _, f := range []struct {
		filter string
		want   func(c *engine.Client) bool
	}{
		{"id 3 5 7", func(c *engine.Client) bool {
			return slices.Contains([]uint64{3, 5, 7}, c.ID)
		}},
		{"addr 10.0.0.1:1000", func(c *engine.Client) bool { return c.Addr == "10.0.0.1:1000" }},
		{"laddr 10.0.0.9:6379", func(c *engine.Client) bool { return c.LAddr == "10.0.0.9:6379" }},
		{"ip 10.0.0.2", func(c *engine.Client) bool {
			return strings.HasPrefix(c.Addr, "10.0.0.2:")
		}},
		{"ip ::1", func(c *engine.Client) bool { return strings.HasPrefix(c.Addr, "[::1]:") }},
		{"name a", func(c *engine.Client) bool { return c.Name == "a" }},
		{"lib-name go-redis", func(c *engine.Client) bool { return c.LibName == "go-redis" }},
		{"lib-ver 1", func(c *engine.Client) bool { return c.LibVer == "1" }},
		{"user default", func(*engine.Client) bool { return true }},
		{"db 2", func(c *engine.Client) bool { return c.DB().ID() == 2 }},
		{"type normal", func(c *engine.Client) bool { return c.Class == engine.ClassNormal }},
		{"type replica", func(c *engine.Client) bool { return c.Class == engine.ClassReplica }},
		{"type pubsub", func(c *engine.Client) bool { return c.Class == engine.ClassPubSub }},
		{"type master", func(*engine.Client) bool { return false }},
		{"capa r", func(c *engine.Client) bool { return c.Redirects }},
		{"flags e", func(c *engine.Client) bool { return c.NoEvict }},
		{"flags Te", func(c *engine.Client) bool { return c.NoEvict && c.NoTouch }},
		{"flags UU", func(c *engine.Client) bool { return c.Unix }},
		{"flags N", func(c *engine.Client) bool { return c.FlagLetters() == "N" }},
		{"idle 10", func(c *engine.Client) bool { return seconds(l.e.Steady(), c.LastUsed) >= 10 }},
		{"maxage 10", func(c *engine.Client) bool {
			return seconds(l.e.Steady(), c.Created) >= 10
		}},
	} {
		for _, negated := range []bool{false, true} {
			filter := f.filter
			if negated {
				filter = "not-" + filter
			}
			got := listed(t, l, filter)
			var want []string
			l.e.Clients(func(c *engine.Client) bool {
				if f.want(c) != negated {
					want = append(want, fmt.Sprint(c.ID))
				}
				return true
			})
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", filter, got, want)
			}
		}
	}
	a, b := listed(t, l, "name a db 1 type normal"), listed(t, l, "db 1 type normal name b name a")
	if !slices.Equal(a, b) {
		t.Errorf("order of filters matters, or the last of equal ones does not win: %v, %v", a, b)
	}
}

// listed returns the IDs that CLIENT LIST shows under the filters.
func listed(t *testing.T, l *local, filter string) []string {
	t.Helper()
	v := l.do(t, append(argvOf("CLIENT", "LIST"), argvOf(strings.Fields(filter)...)...))
	if v.IsError() {
		t.Fatal(filter, v)
	}
	var ids []string
	for _, m := range regexp.MustCompile(`(?m)^id=(\d+) `).FindAllStringSubmatch(v.Str, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

func TestClientKill(t *testing.T) {
	l := newLocal(t)
	l.e.Enter()
	var others []*engine.Client
	for i := range 6 {
		c := l.e.NewClient(nil)
		c.Addr, c.Name = fmt.Sprintf("1.2.3.4:%d", i), []string{"x", "y"}[i%2]
		others = append(others, c)
	}
	l.c.Name = "x"
	l.e.Leave()
	kill := func(args, want string) {
		t.Helper()
		got := string(l.exec(append(argvOf("CLIENT", "KILL"), argvOf(strings.Fields(args)...)...)))
		if got != want+"\r\n" {
			t.Errorf("CLIENT KILL %s: %q, want %q", args, got, want)
		}
	}
	kill("1.2.3.4:5", "+OK")
	kill("1.2.3.4:5", "-ERR No such client")
	kill("NAME x", ":3") // Not the caller.
	kill("NAME x", ":0")
	if l.c.CloseAfterReply || l.e.ClientCount() != 3 {
		t.Fatalf("%d clients left, want 3", l.e.ClientCount())
	}
	kill("SKIPME no", ":3")
	if !l.c.CloseAfterReply || l.c.CloseASAP || l.e.ClientCount() != 1 {
		t.Error("the client that asks is to be closed behind the reply")
	}
	for _, c := range others {
		if !c.CloseASAP {
			t.Errorf("client %d lives", c.ID)
		}
	}
}
