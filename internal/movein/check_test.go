package movein

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp"
)

// fake answers commands with texts: by address, then by the command line.
type fake map[string]map[string]string

// dial connects to a fake server.
func (f fake) dial(addr string, _ bool) (net.Conn, error) {
	answers, ok := f[addr]
	if !ok {
		return nil, net.ErrClosed
	}
	ours, theirs := net.Pipe()
	go serve(theirs, answers)
	return ours, nil
}

// serve answers until the connection ends: with an array of words if the text begins with *, with
// an array of one such array if it begins with two.
func serve(conn net.Conn, answers map[string]string) {
	var p resp.Parser
	in, buf := []byte(nil), make([]byte, 4096)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		in = append(in, buf[:n]...)
		for {
			argv, used, err := p.Next(in, &resp.Limits{Authenticated: true})
			if err != nil || argv == nil {
				break
			}
			var words []string
			for _, a := range argv {
				words = append(words, string(a))
			}
			in = in[used:]
			w := resp.Writer{Proto: 2}
			switch text, ok := answers[strings.Join(words, " ")]; {
			case !ok:
				w.Error("ERR unknown command")
			case strings.HasPrefix(text, "*"):
				list := strings.Fields(strings.TrimLeft(text, "*"))
				if strings.HasPrefix(text, "**") {
					w.Array(1)
				}
				w.Array(len(list))
				for _, word := range list {
					w.BulkString(word)
				}
			default:
				w.BulkString(text)
			}
			if _, err := conn.Write(w.Buf); err != nil {
				return
			}
		}
	}
}

// world returns the two masters of a source, and the two of an empty target.
func world() fake {
	node := func(id string, port string, me bool, rest string) string {
		flags := "master"
		if me {
			flags = "myself,master"
		}
		return id + " " + port + "@1 " + flags + " - 0 0 1 connected " + rest + "\n"
	}
	const a, b, x, y = "a:1", "b:1", "x:1", "y:1"
	f := fake{}
	for _, addr := range []string{a, b} {
		f[addr] = map[string]string{
			"CLUSTER NODES": node("a", a, addr == a, "0-8191") + node("b", b, addr == b,
				"8192-16383"),
			"CLUSTER INFO": "cluster_state:ok\r\n", "INFO server": "redis_version:8.0.6\r\n",
			"INFO keyspace":                    "# Keyspace\r\ndb0:keys=5,expires=0\r\n",
			"CONFIG GET min-replicas-to-write": "*min-replicas-to-write 0",
			"CONFIG GET min-replicas-max-lag":  "*min-replicas-max-lag 10",
		}
	}
	for _, addr := range []string{x, y} {
		f[addr] = map[string]string{
			"CLUSTER NODES": node("x", x, addr == x, "100-200") + node("y", y, addr == y, ""),
			"INFO server":   "godwit_version:1\r\n", "INFO keyspace": "# Keyspace\r\n",
			"INFO replication": "role:master\r\n", "FUNCTION LIST": "*",
		}
	}
	return f
}

// checks are clusters that cannot be moved, and some that can: what is different about them, and a
// part of the error.
var checks = map[string]struct {
	change func(f fake)
	want   string
}{
	"good": {func(fake) {}, ""},
	"one cluster": {func(f fake) {
		for _, at := range []string{"x:1", "y:1"} {
			f[at]["CLUSTER NODES"] = strings.Replace(f[at]["CLUSTER NODES"], "y y:1", "b y:1", 1)
		}
	}, "are one cluster: both have node b"},
	"slots without an owner": {func(f fake) {
		for _, a := range []string{"a:1", "b:1"} {
			f[a]["CLUSTER NODES"] = strings.Replace(f[a]["CLUSTER NODES"], "8191", "8189", 1)
		}
	}, "2 slots have no owner: 8190-8191"},
	"a slot that moves": {func(f fake) {
		f["b:1"]["CLUSTER NODES"] = strings.Replace(f["b:1"]["CLUSTER NODES"], "16383",
			"16383 [9000->-a]", 1)
	}, "slot 9000 is being moved"},
	"slots that move as a whole": {func(f fake) {
		f["b:1"]["CLUSTER GETSLOTMIGRATIONS"] = "**name x state exporting"
	}, "slots are being moved"},
	"slots that have moved as a whole": {func(f fake) {
		f["b:1"]["CLUSTER GETSLOTMIGRATIONS"] = "**name x state success"
	}, ""},
	"nodes of different minds": {func(f fake) {
		f["b:1"]["CLUSTER NODES"] = strings.NewReplacer("8191", "8190", "8192", "8191").
			Replace(f["b:1"]["CLUSTER NODES"])
	}, "do not agree"},
	"a cluster that is down": {func(f fake) {
		f["b:1"]["CLUSTER INFO"] = "cluster_state:fail\r\n"
	}, "the cluster is down"},
	"a master that has failed": {func(f fake) {
		f["a:1"]["CLUSTER NODES"] = strings.Replace(f["a:1"]["CLUSTER NODES"], "1 master",
			"1 master,fail", 1)
	}, "the master at b:1 has failed"},
	"nothing to stop writes with": {func(f fake) {
		delete(f["b:1"], "CONFIG GET min-replicas-to-write")
	}, "b:1 cannot be told to refuse writes"},
	"too few masters": {func(f fake) {
		f["x:1"]["CLUSTER NODES"], _, _ = strings.Cut(f["x:1"]["CLUSTER NODES"], "y y:1")
	}, "it has 1 masters, but each of the 2 shards needs one"},
	"keys": {func(f fake) {
		f["y:1"]["INFO keyspace"] = "db0:keys=1,expires=0\r\n"
	}, "the master at y:1 has keys"},
	"functions": {func(f fake) {
		f["y:1"]["FUNCTION LIST"] = "*lib"
	}, "libraries of functions"},
	"another server": {func(f fake) {
		f["y:1"]["INFO server"] = "redis_version:8.0.6\r\n"
	}, "is not Godwit"},
	"another move": {func(f fake) {
		f["y:1"]["INFO replication"] = "follow_slots:7\r\nmaster_host:a\r\nmaster_port:1\r\n"
	}, "none follows the shard with slots 0-8191"},
}

// TestCheck looks at them.
func TestCheck(t *testing.T) {
	for name, c := range checks {
		t.Run(name, func(t *testing.T) {
			f := world()
			c.change(f)
			m := newMover(Options{From: Side{Addr: "a:1"}, To: Side{Addr: "x:1"}, Dial: f.dial,
				Out: io.Discard})
			defer m.from.close()
			defer m.to.close()
			err := m.check()
			if c.want != "" {
				require.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			require.Len(t, m.pairs, 2)
			require.Equal(t, "x:1 0-8191", m.pairs[0].to.addr+" "+m.pairs[0].slots.String())
			require.Len(t, m.spares, 1, "slots that are given back after a failure")
		})
	}
}
