package command

import (
	"bytes"
	"slices"
	"strings"

	"godwit/internal/engine"
	"godwit/internal/object"
)

// clientFilter selects the clients for CLIENT LIST and CLIENT KILL. It maps the name of each filter
// to its condition, and all must hold. A filter given twice has the last value, as in Redis.
type clientFilter struct {
	tests  map[string]func(cl *engine.Client) bool
	skipMe bool
}

func (f *clientFilter) match(c *engine.Ctx, cl *engine.Client) bool {
	if f.skipMe && cl == c.Client {
		return false
	}
	for _, test := range f.tests {
		if !test(cl) {
			return false
		}
	}
	return true
}

// clientTest makes the condition of one filter from its value. It replies with Redis's error and
// returns nil if the value is invalid.
type clientTest func(c *engine.Ctx, v []byte) func(cl *engine.Client) bool

// clientTests returns the filters that take one value. ID is not among them: it takes several.
func clientTests() map[string]clientTest {
	equals := func(of func(cl *engine.Client) string) clientTest {
		return func(_ *engine.Ctx, v []byte) func(cl *engine.Client) bool {
			want := string(v)
			return func(cl *engine.Client) bool { return of(cl) == want }
		}
	}
	atLeast := func(name string, ms func(c *engine.Ctx, cl *engine.Client) int64) clientTest {
		return func(c *engine.Ctx, v []byte) func(cl *engine.Client) bool {
			n, ok := object.ParseInt(v)
			switch {
			case !ok:
				c.Err("ERR " + name + " is not an integer or out of range")
				return nil
			case n <= 0:
				c.Err("ERR " + name + " should be greater than 0")
				return nil
			}
			return func(cl *engine.Client) bool { return ms(c, cl)/1000 >= n }
		}
	}
	return map[string]clientTest{
		"addr":     equals(func(cl *engine.Client) string { return cl.Addr }),
		"laddr":    equals(func(cl *engine.Client) string { return cl.LAddr }),
		"ip":       equals(func(cl *engine.Client) string { return hostOf(cl.Addr) }),
		"name":     equals(func(cl *engine.Client) string { return cl.Name }),
		"lib-name": equals(func(cl *engine.Client) string { return cl.LibName }),
		"lib-ver":  equals(func(cl *engine.Client) string { return cl.LibVer }),
		"idle": atLeast("idle", func(c *engine.Ctx, cl *engine.Client) int64 {
			return c.E.Steady() - cl.LastUsed
		}),
		"maxage": atLeast("maxage", func(c *engine.Ctx, cl *engine.Client) int64 {
			return c.E.Steady() - cl.Created
		}),
		"type":  clientTypeTest,
		"user":  clientUserTest,
		"flags": clientFlagsTest,
		"db":    clientDBTest,
		"capa":  clientCapaTest,
	}
}

func clientTypeTest(c *engine.Ctx, v []byte) func(cl *engine.Client) bool {
	switch {
	case is(v, "normal"):
		return func(cl *engine.Client) bool {
			return cl.Class == engine.ClassNormal && cl.Origin == engine.OriginConnection
		}
	case is(v, "replica"), is(v, "slave"):
		return func(cl *engine.Client) bool { return cl.Class == engine.ClassReplica }
	case is(v, "pubsub"):
		return func(cl *engine.Client) bool { return cl.Class == engine.ClassPubSub }
	case is(v, "master"), is(v, "primary"):
		return func(cl *engine.Client) bool { return cl.Origin == engine.OriginMaster }
	}
	c.Err("ERR Unknown client type '" + cString(v, len(v)) + "'")
	return nil
}

func clientUserTest(c *engine.Ctx, v []byte) func(cl *engine.Client) bool {
	u := c.E.Users().Get(string(v))
	if u == nil {
		c.Err("ERR No such user '" + string(v) + "'")
		return nil
	}
	return func(cl *engine.Client) bool { return cl.User == u }
}

// clientFlagsTest passes the clients that have all of the letters.
func clientFlagsTest(c *engine.Ctx, v []byte) func(cl *engine.Client) bool {
	if strings.Trim(string(v), engine.ClientFlagLetters) != "" {
		c.Err("ERR Unknown flags found in the provided filter: " + string(v))
		return nil
	}
	want := string(v)
	return func(cl *engine.Client) bool {
		have := cl.FlagLetters()
		return strings.Trim(want, have) == ""
	}
}

// clientCapaTest passes the clients that have announced all of the capabilities, r for redirect.
func clientCapaTest(c *engine.Ctx, v []byte) func(cl *engine.Client) bool {
	if strings.Trim(string(v), "r") != "" {
		c.Err("ERR Unknown capa found in the provided filter: " + cString(v, len(v)))
		return nil
	}
	return func(cl *engine.Client) bool { return cl.Redirects || len(v) == 0 }
}

func clientDBTest(c *engine.Ctx, v []byte) func(cl *engine.Client) bool {
	n, ok := dbArg(c, v)
	if !ok {
		return nil
	}
	db := c.E.KS.DB(n)
	return func(cl *engine.Client) bool { return cl.DB() == db }
}

// hostOf returns an address without its port, and an IPv6 address without its brackets.
func hostOf(addr string) string {
	if i := strings.LastIndexByte(addr, ':'); i >= 0 {
		addr = addr[:i]
	}
	return strings.TrimSuffix(strings.TrimPrefix(addr, "["), "]")
}

// parse reads filters and replies with Redis's errors. badID is the error for an invalid client ID,
// and minID the smallest valid one.
func (f *clientFilter) parse(c *engine.Ctx, args [][]byte, badID string, minID int64) bool {
	tests := clientTests()
	f.tests = map[string]func(cl *engine.Client) bool{}
	for i := 0; i < len(args); {
		name := strings.ToLower(string(args[i]))
		base, negated := strings.CutPrefix(name, "not-")
		if i+1 == len(args) {
			c.Err(engine.ErrSyntax)
			return false
		}
		v := args[i+1]
		i += 2
		var test func(cl *engine.Client) bool
		switch make := tests[base]; {
		case name == "skipme" && is(v, "yes"):
			f.skipMe = true
			continue
		case name == "skipme" && is(v, "no"):
			f.skipMe = false
			continue
		case base == "id":
			n := 0
			test, n = idTest(args[i-1:], minID)
			if test == nil || n == 0 {
				c.Err(badID)
				return false
			}
			i += n - 1
		case make != nil:
			if test = make(c, v); test == nil {
				return false
			}
		default:
			c.Err(engine.ErrSyntax)
			return false
		}
		if negated {
			yes := test
			test = func(cl *engine.Client) bool { return !yes(cl) }
		}
		f.tests[name] = test
	}
	return true
}

// idTest reads IDs up to the name of another filter, which for CLIENT KILL may be any word. It
// returns how many it read, and a nil test if one is invalid.
func idTest(args [][]byte, minID int64) (test func(cl *engine.Client) bool, n int) {
	var ids []uint64
	for _, a := range args {
		id, ok := object.ParseInt(a)
		if !ok && n > 0 && (minID > 0 || isFilterName(a)) {
			break
		}
		if !ok || id < minID {
			return nil, 0
		}
		ids = append(ids, uint64(id))
		n++
	}
	return func(cl *engine.Client) bool { return slices.Contains(ids, cl.ID) }, n
}

func isFilterName(a []byte) bool {
	name := strings.TrimPrefix(strings.ToLower(string(a)), "not-")
	return name == "id" || name == "skipme" || clientTests()[name] != nil
}

func clientListCmd(c *engine.Ctx) {
	var f clientFilter
	if !f.parse(c, c.Args[2:], "ERR Invalid client ID", -1<<63) {
		return
	}
	var out []byte
	c.E.Clients(func(cl *engine.Client) bool {
		if f.match(c, cl) {
			out = appendClientLine(out, c, cl)
		}
		return true
	})
	c.Verbatim("txt", string(out))
}

// clientKillCmd closes connections. The old form closes the one from the given address. The new
// form closes all that pass the filters and replies with their number.
func clientKillCmd(c *engine.Ctx) {
	if len(c.Args) == 3 {
		addr := string(c.Args[2])
		if killClients(c, func(cl *engine.Client) bool { return cl.Addr == addr }) == 0 {
			c.Err("ERR No such client")
			return
		}
		c.OK()
		return
	}
	f := clientFilter{skipMe: true}
	if f.parse(c, c.Args[2:], "ERR client-id should be greater than 0", 1) {
		c.Int(int64(killClients(c, func(cl *engine.Client) bool { return f.match(c, cl) })))
	}
}

func killClients(c *engine.Ctx, which func(cl *engine.Client) bool) (n int) {
	c.E.Clients(func(cl *engine.Client) bool {
		if which(cl) {
			c.E.Kill(cl)
			n++
		}
		return true
	})
	return n
}

// appendClientLine appends the client's line of CLIENT LIST.
func appendClientLine(b []byte, c *engine.Ctx, cl *engine.Client) []byte {
	argv := 0
	if cl == c.Client {
		argv = len(bytes.Join(c.Args, nil))
	}
	return cl.AppendInfo(b, c.E, argv)
}
