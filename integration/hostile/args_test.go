package hostile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"godwit/internal/spec"
)

// commands are the entries of the command table that the test sends, without containers.
var commands = func() (all []*spec.Command) {
	for _, c := range spec.New().All() {
		if len(c.Sub) == 0 && !excluded[c.FullName()] {
			all = append(all, c)
		}
	}
	return all
}()

// excluded are the commands that end the server or lock the test out by design. Functions of their
// own make DEBUG and CONFIG SET.
var excluded = map[string]bool{
	"shutdown": true, "debug": true, "config|set": true, "config|rewrite": true, "acl|load": true,
	"client|pause": true, "acl|setuser": true, "acl|deluser": true, "client|kill": true,
	"slaveof": true, "replicaof": true,
	"cluster|meet": true, // others may be on this machine
}

// maker makes commands. All its choices come from rng.
type maker struct {
	rng  *rand.Rand
	node string // the id of the node that is attacked, "" without a cluster
}

func (m *maker) chance(percent int) bool { return m.rng.IntN(100) < percent }

func pick[T any](m *maker, all ...T) T { return all[m.rng.IntN(len(all))] }

// hostile are values on which a parser may trip.
var hostile = []string{
	"", " ", "0", "-0", "+1", "-1", "1 ", " 1", "1.5", "1e400", "-1e400", "nan", "inf", "-inf",
	"+inf", "0x10", "1e5", "00012", "9223372036854775807", "-9223372036854775808",
	"9223372036854775808", "-9223372036854775807", "18446744073709551615", "18446744073709551616",
	"4294967295", "4294967296", "2147483647", "-2147483648", "1024", "65536", "\x00",
	"\xff\xfe", "a\r\nb", "*", "$", ">", "~", "(", "[", "(1", "[a", "-", "+", "?", "[^", "\\", "{}",
	"{a}b", "%n%s", "COUNT", "STORE", "LIMIT", "BY", "GET", "NX", "XX", "KEYS", "MATCH", "ANY",
	"WITHSCORES", "REPLACE", "ABSTTL", "#", "BY nosort", "180", "-180", "90.1",
}

func (m *maker) key() string {
	name := "k" + strconv.Itoa(m.rng.IntN(24))
	if m.node != "" && m.chance(80) {
		name = "{a}" + name
	}
	return name
}

func (m *maker) integer() string {
	switch m.rng.IntN(10) {
	case 0, 1, 2, 3:
		return strconv.Itoa(m.rng.IntN(8))
	case 4, 5:
		return strconv.Itoa(m.rng.IntN(400) - 200)
	case 6:
		return strconv.FormatInt(int64(1)<<m.rng.IntN(34), 10)
	case 7:
		return strconv.Itoa(1 + m.rng.IntN(100_000))
	}
	return pick(m, hostile...)
}

func (m *maker) text() string {
	switch m.rng.IntN(16) {
	case 0:
		return m.integer()
	case 1:
		return pick(m, hostile...)
	case 2:
		return strings.Repeat(pick(m, "x", "\x00", "ab", "\xff"), m.rng.IntN(200))
	case 3:
		if m.chance(10) {
			return strings.Repeat("L", m.rng.IntN(200_000))
		}
	}
	return "v" + strconv.Itoa(m.rng.IntN(40))
}

// arg appends words for one documented argument. keys is how many keys follow a number of keys.
func (m *maker) arg(out []string, a spec.Arg, keys int) []string {
	if a.Optional && m.chance(55) {
		return out
	}
	times := 1
	if a.Multiple {
		times = 1 + m.rng.IntN(3)
		if (a.Type == spec.ArgKey || a.Name == "id" && m.chance(90)) && keys > 0 {
			times = keys
		}
		if m.chance(2) {
			times = 60
		}
	}
	if a.Token != "" && a.Type != spec.ArgPureToken && !a.MultipleToken {
		out = append(out, a.Token)
	}
	for range times {
		if a.Token != "" && a.MultipleToken {
			out = append(out, a.Token)
		}
		switch a.Type {
		case spec.ArgKey:
			out = append(out, m.key())
		case spec.ArgInteger:
			if (a.Name == "numkeys" || a.Name == "numids") && m.chance(90) {
				out = append(out, strconv.Itoa(keys))
			} else {
				out = append(out, m.integer())
			}
		case spec.ArgUnixTime:
			out = append(out, pick(m, m.integer(), "2000000000", "4000000000000", "1"))
		case spec.ArgDouble:
			out = append(out, pick(m, m.integer(), "1.5", "-3.25", "0.0001", "1e17"))
		case spec.ArgPattern:
			out = append(out,
				pick(m, "*", "k*", "k[0-4]", "v?", strings.Repeat("*a", 20), m.text()))
		case spec.ArgPureToken:
			if a.Name == "auto-id" && m.chance(80) {
				out = append(out, m.entryID()+"-*")
				break
			}
			out = append(out, a.Token)
		case spec.ArgOneOf:
			out = m.arg(out, pick(m, a.Args...), keys)
		case spec.ArgBlock:
			for _, sub := range a.Args {
				out = m.arg(out, sub, keys)
			}
		default:
			out = append(out, m.named(a.Name))
		}
	}
	return out
}

// named makes a text for an argument of that name. What entries of streams, their groups and
// consumers are called is of a small space, so that commands meet.
func (m *maker) named(name string) string {
	if m.chance(5) {
		return m.text()
	}
	switch name {
	case "id", "start", "end", "last-id", "lastid", "max-deleted-id", "stream-id", "threshold":
		switch m.rng.IntN(8) {
		case 0:
			return pick(m, "-", "+", "0", "$", ">", "(5-1",
				"18446744073709551615-18446744073709551615")
		case 1:
			return m.entryID()
		}
		return m.entryID() + "-" + strconv.Itoa(m.rng.IntN(3))
	case "group":
		return "g" + strconv.Itoa(m.rng.IntN(2))
	case "consumer":
		return "c" + strconv.Itoa(m.rng.IntN(4))
	case "pid", "iid":
		return "p" + strconv.Itoa(m.rng.IntN(4))
	case "node-id", "importing", "migrating", "source", "node":
		if m.node != "" && m.chance(70) {
			return m.node
		}
		return strings.Repeat(pick(m, "0", "a", "g"), pick(m, 40, 40, 39))
	case "min-idle-time":
		return pick(m, "0", "0", "1", "5", "100000")
	}
	return m.text()
}

// entryID makes the first part of an ID. Large ones are rare: they end a stream's growth.
func (m *maker) entryID() string { return strconv.Itoa(m.rng.IntN(2 << m.rng.IntN(14))) }

// command makes one command from its documentation, and often damages it.
func (m *maker) command() []string {
	switch n := m.rng.IntN(1000); {
	case n < 30:
		return m.debug()
	case n < 50:
		return m.config()
	case n < 80:
		return m.client()
	case n < 100:
		return m.acl()
	case n < 150:
		return m.eval()
	case n < 170 && m.node != "":
		return m.cluster()
	case n < 190:
		return []string{pick(m, "MULTI", "EXEC", "EXEC", "DISCARD", "WATCH", "UNWATCH", "RESET"),
			m.key()}[:1+m.rng.IntN(2)]
	}
	c := pick(m, commands...)
	out := strings.Split(c.FullName(), "|")
	keys := 1 + m.rng.IntN(4)
	for _, a := range c.Args {
		out = m.arg(out, a, keys)
	}
	for m.chance(20) {
		out = m.damage(out)
	}
	return m.bounded(out)
}

// damage spoils one thing.
func (m *maker) damage(args []string) []string {
	if len(args) == 0 || len(args) > 300 {
		return []string{m.text()}
	}
	i := m.rng.IntN(len(args))
	switch m.rng.IntN(7) {
	case 0:
		return append(args[:i:i], args[min(i+1, len(args)):]...)
	case 1:
		return append(args[:i+1:i+1], args[i:]...)
	case 2:
		return append(args, m.text())
	case 3:
		j := m.rng.IntN(len(args))
		args[i], args[j] = args[j], args[i]
	case 4:
		return append(args, args...)
	case 5:
		args[i] = m.key()
	default:
		if i > 0 {
			args[i] = pick(m, hostile...)
		}
	}
	return args
}

// bounded removes what blocks or fills the server by design. Damage may turn any command into such
// a one.
func (m *maker) bounded(args []string) []string {
	if len(args) == 0 {
		return []string{"PING"}
	}
	name := strings.ToLower(args[0])
	if len(args) > 1 && excluded[name+"|"+strings.ToLower(args[1])] || excluded[name] {
		return []string{"PING"}
	}
	// It waits, for name servers too, and those depend on the machine's network.
	if name == "migrate" {
		for i, v := range map[int]string{1: "127.0.0.1", 5: "20"} {
			if i < len(args) {
				args[i] = v
			}
		}
	}
	for i := 1; i < len(args); i++ {
		n, err := strconv.ParseInt(strings.TrimPrefix(args[i], "#"), 10, 64)
		if err != nil || n < 1<<20 && n > -1<<20 {
			continue
		}
		switch name {
		case "setrange", "setbit", "bitfield", "lolwut":
			if n < 1<<33 { // what is refused anyway may stay
				args[i] = strconv.FormatInt(n%4_000_000, 10)
			}
		case "bf.reserve", "cf.reserve", "cms.initbydim", "topk.reserve", "tdigest.create",
			"bf.insert", "cf.insert",
			"hrandfield", "srandmember", "zrandmember", "cms.initbyprob":
			if n < 1<<40 && n > -1<<40 {
				args[i] = strconv.FormatInt(n%10_000, 10)
			}
		}
	}
	return args
}

func (m *maker) debug() []string {
	if m.chance(4) {
		return []string{"DEBUG", pick(m, "CHECK", "RELOAD", "DIGEST")} // slow ones
	}
	return append([]string{"DEBUG"}, pick(m,
		[]string{"OBJECT", m.key()}, []string{"SLEEP", "0"}, []string{"LISTPACK", m.key()},
		[]string{"QUICKLIST", m.key()}, []string{"DIGEST-VALUE", m.key(), m.key()},
		[]string{"SDSLEN", m.key()}, []string{"HTSTATS", m.integer()},
		[]string{"HTSTATS-KEY", m.key()}, []string{"STRINGMATCH-LEN", m.text(), m.text()},
		[]string{"SET-ACTIVE-EXPIRE", pick(m, "0", "1")},
		[]string{"PROTOCOL", pick(m, "map", "attrib", "push", "bignum")},
		[]string{"POPULATE", strconv.Itoa(m.rng.IntN(300)), pick(m, "k", "p"), "20"},
		[]string{"ERROR", m.text()},
		[]string{"QUICKLIST-PACKED-THRESHOLD", pick(m, "0", "10", "100b")}, []string{"HELP"},
	)...)
}

func (m *maker) config() []string {
	small := strconv.Itoa(m.rng.IntN(200))
	kv := pick(m,
		[]string{"hash-max-listpack-entries", small}, []string{"hash-max-listpack-value", small},
		[]string{"set-max-intset-entries", small}, []string{"set-max-listpack-entries", small},
		[]string{"zset-max-listpack-entries", small},
		[]string{"zset-max-listpack-value", small},
		[]string{"list-max-listpack-size", pick(m, "-1", "-2", "-5", "1", "3", "128")},
		[]string{"list-compress-depth", pick(m, "0", "1", "3")},
		[]string{"maxmemory", pick(m, memoryLimit, "100mb", "20mb", "1")},
		[]string{"maxmemory-clients", pick(m, "0", "1mb", "5%")},
		[]string{"maxmemory-policy",
			pick(m, "noeviction", "allkeys-lru", "allkeys-lfu", "volatile-ttl", "allkeys-random",
				"volatile-lfu", "allkeys-lrm", "volatile-lrm")},
		[]string{"notify-keyspace-events", pick(m, "", "KEA", "KEAmn", "Kg")},
		[]string{"lazyfree-lazy-user-del", pick(m, "yes", "no")},
		[]string{"activerehashing", pick(m, "yes", "no")},
		[]string{"tracking-table-max-keys", pick(m, "0", "1", "1000000")},
		[]string{"slowlog-log-slower-than", pick(m, "-1", "0", "10000")},
		[]string{"latency-tracking", pick(m, "yes", "no")},
		[]string{"appendonly", pick(m, "yes", "no")},
		[]string{"appendfsync", pick(m, "no", "everysec", "always")},
		[]string{"hll-sparse-max-bytes", pick(m, "0", "3000", "16000")},
		[]string{"active-expire-effort", pick(m, "1", "10")}, []string{"nosuch", m.text()},
		[]string{"proto-max-bulk-len", pick(m, "1mb", "512mb")},
		[]string{"hz", pick(m, "1", "10", "500")},
		[]string{"stream-node-max-entries", pick(m, "0", "1", "3", "100")},
		[]string{"stream-node-max-bytes", pick(m, "0", "1", "50", "4096")},
	)
	if m.node != "" && m.chance(30) {
		kv = m.clusterConfig()
	}
	return append([]string{"CONFIG", "SET"}, kv...)
}

func (m *maker) client() []string {
	return append([]string{"CLIENT"}, pick(m,
		[]string{"KILL", "ID", strconv.Itoa(m.rng.IntN(200))},
		[]string{"KILL", "TYPE", pick(m, "pubsub", "replica")},
		[]string{"KILL", "USER", "u1", "SKIPME", pick(m, "yes", "no")}, []string{"UNPAUSE"},
		[]string{"PAUSE", strconv.Itoa(m.rng.IntN(30)), pick(m, "WRITE", "ALL")},
		[]string{"REPLY", pick(m, "ON", "OFF", "SKIP")},
		[]string{"TRACKING", "ON", pick(m, "BCAST", "OPTIN", "OPTOUT", "NOLOOP")},
		[]string{"TRACKING", "OFF"},
		[]string{"TRACKING", "ON", "BCAST", "PREFIX", pick(m, "k", "k1", ""), "PREFIX",
			pick(m, "p", "k2", "k")},
		[]string{"TRACKING", "ON", "REDIRECT", strconv.Itoa(m.rng.IntN(300))},
		[]string{"CACHING", pick(m, "YES", "NO")},
		[]string{"UNBLOCK", strconv.Itoa(m.rng.IntN(300)), pick(m, "ERROR", "TIMEOUT")},
		[]string{"LIST"}, []string{"NO-EVICT", pick(m, "on", "off")}, []string{"SETNAME", m.text()},
		[]string{"NO-TOUCH", pick(m, "on", "off")},
	)...)
}

func (m *maker) acl() []string {
	rule := func() string {
		return pick(m, "on", "off", "+@all", "-@all", "+get", "-get", "~k*", "%R~k1", "&*",
			"allkeys", "resetkeys", ">pw", "<pw", "nopass",
			"reset", "clearselectors", "(+set ~k2)", "+config|get", "-@dangerous", m.text())
	}
	return append([]string{"ACL"}, pick(m,
		[]string{"SETUSER", "u1", rule(), rule(), rule()}, []string{"SETUSER", "u2", rule()},
		[]string{"DELUSER", pick(m, "u1", "u2")}, []string{"LIST"}, []string{"GETUSER", "u1"},
		[]string{"DRYRUN", "u1", "set", m.key(), "x"}, []string{"LOG"},
		[]string{"CAT", pick(m, "read", "zz")},
	)...)
}

// eval makes a script. Some are good, and many have a syntax error.
func (m *maker) eval() []string {
	call := func() string {
		var b strings.Builder
		fmt.Fprintf(&b, "redis.%s(", pick(m, "call", "pcall"))
		for i, w := range m.command() {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(luaString(w))
		}
		return b.String() + ")"
	}
	body := pick(m,
		"return "+call(), "local a="+call()+" "+call()+" return a",
		"for i=1,3 do "+call()+" end return 1",
		"return pcall(function() "+call()+" error({err='x'}) end)",
		"return {"+call()+","+call()+",3.5,{ok='y'}}", "return cjson.encode({"+call()+"})",
		"return redis.sha1hex(string.rep('x',"+strconv.Itoa(m.rng.IntN(1000))+"))",
		"redis.setresp(3) return "+call(), "return cmsgpack.unpack("+luaString(m.text())+")",
		"return struct.unpack("+luaString(m.text())+",'abc')",
		"return string.format("+luaString(m.text())+",1,2)",
		"return ("+luaString(m.text())+"):gsub("+luaString(m.text())+",'%1')",
		"local t={} for i=1,100 do t[i]=i end return unpack(t)",
		"return tostring(coroutine.wrap(function() coroutine.yield("+call()+") end)())",
	)
	if m.chance(50) { // a syntax error, most probably
		i := m.rng.IntN(len(body) + 1)
		body = body[:i] + pick(m, " end ", " ( ", "=", " do ", " then ", "\"", "]]", " local ",
			"..", " function ", "") + body[min(len(body), i+m.rng.IntN(3)):]
	}
	if m.chance(30) {
		body = "#!lua " + pick(m, "", "flags=no-writes", "flags=allow-oom", "name=lib",
			"flags=nosuch") + "\n" + body
	}
	return pick(m, []string{"EVAL", body, "1", m.key(), m.text()}, []string{"EVAL", body, "0"},
		[]string{"EVAL_RO", body, "1", m.key()},
		[]string{"SCRIPT", "LOAD", body},
		[]string{"FUNCTION", "LOAD", "REPLACE", "#!lua name=lib" + strconv.Itoa(m.rng.IntN(3)) +
			"\nredis.register_function('f" + strconv.Itoa(m.rng.IntN(3)) +
			"', function(keys, args) " + body + " end)"},
		[]string{"FCALL", "f" + strconv.Itoa(m.rng.IntN(3)), "1", m.key()})
}

// luaString returns s as a Lua literal.
func luaString(s string) string {
	var b bytes.Buffer
	b.WriteByte('"')
	for i := range len(s) {
		fmt.Fprintf(&b, "\\%03d", s[i])
	}
	b.WriteByte('"')
	return b.String()
}
