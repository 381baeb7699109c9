package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
)

// streams makes streams: two with groups, consumers and entries that they wait for, one without,
// and one that is empty.
func streams(t *testing.T, c *client.Client) {
	t.Helper()
	for _, key := range []string{"events", "jobs", "log"} {
		for i := range 300 {
			c.Queue("XADD", key, fmt.Sprint(i+1, "-1"), "field", i, "other",
				strings.Repeat("x", i%80))
		}
		_, err := c.Pipeline()
		require.NoError(t, err)
		do(t, c, "XADD", key, "MAXLEN", 200, "1000-0", "f", "v")
		do(t, c, "XDEL", key, "280-1")
		if key == "log" {
			continue
		}
		for _, group := range []string{"g1", "g2"} {
			do(t, c, "XGROUP", "CREATE", key, group, 0)
			do(t, c, "XGROUP", "CREATECONSUMER", key, group, "idle")
			do(t, c, "XREADGROUP", "GROUP", group, "busy", "COUNT", 50, "STREAMS", key, ">")
		}
	}
}

// streamContent returns what a stream holds, but for the times of consumers. Without whole it
// leaves out what files of version 9 cannot tell.
func streamContent(t *testing.T, c *client.Client, key string, whole bool) string {
	t.Helper()
	var b strings.Builder
	full := infoOf(do(t, c, "XINFO", "STREAM", key, "FULL", "COUNT", 0))
	fmt.Fprintln(&b, full["length"], full["last-generated-id"])
	for _, e := range full["entries"].Elems {
		fmt.Fprintln(&b, e)
	}
	if whole {
		fmt.Fprintln(&b, full["max-deleted-entry-id"], full["entries-added"])
	}
	for _, g := range full["groups"].Elems {
		g := infoOf(g)
		fmt.Fprintln(&b, g["name"], g["last-delivered-id"])
		for _, p := range g["pending"].Elems {
			fmt.Fprintln(&b, p)
		}
		if whole {
			fmt.Fprintln(&b, g["entries-read"])
		}
		for _, consumer := range g["consumers"].Elems {
			consumer := infoOf(consumer)
			fmt.Fprintln(&b, consumer["name"])
			for _, p := range consumer["pending"].Elems {
				fmt.Fprintln(&b, p)
			}
		}
	}
	return b.String()
}

// infoOf returns a reply of names and values as a map.
func infoOf(v client.Value) map[string]client.Value {
	m := map[string]client.Value{}
	for i := 0; i+1 < len(v.Elems); i += 2 {
		m[v.Elems[i].Text()] = v.Elems[i+1]
	}
	return m
}

// newerStreams makes streams that Redis before 8.6 and 8.8 cannot have.
func newerStreams(t *testing.T, c *client.Client) {
	t.Helper()
	do(t, c, "XADD", "sent", "IDMP", "producer", "1", "*", "f", "v")
	do(t, c, "XADD", "sent", "IDMP", "producer", "1", "*", "f", "v")
	do(t, c, "XCFGSET", "set", "IDMP-DURATION", 77)
	do(t, c, "XNACK", "jobs", "g1", "FAIL", "IDS", 3, "120-1", "110-1", "115-1")
}

// TestStreamsAfterRestart checks that nothing of a stream is lost by a restart, from a snapshot and
// from a log, whatever rdb-version says for the log.
func TestStreamsAfterRestart(t *testing.T) {
	godwitOnly(t)
	for _, version := range []string{"auto", "9", "10", "11", "12", "80"} {
		for _, aof := range []string{"no", "yes"} {
			if version != "auto" && aof == "no" {
				continue
			}
			t.Run(version+" "+aof, func(t *testing.T) {
				t.Parallel()
				s := startServer(t, with("--rdb-version", version, "--appendonly", aof,
					"--appendfsync", "always")...)
				c := s.dial(t)
				streams(t, c)
				do(t, c, "XGROUP", "CREATE", "set", "g", "$", "MKSTREAM")
				newerStreams(t, c)
				if aof == "yes" {
					rewriteAOF(t, c)
				} else {
					do(t, c, "SAVE")
				}
				all := func(c *client.Client) (list []string) {
					for _, key := range []string{"events", "jobs", "log", "sent", "set"} {
						v := do(t, c, "XINFO", "STREAM", key, "FULL", "COUNT", 0)
						list = append(list, v.String())
					}
					return list
				}
				want := all(c)
				s.Kill()
				again, err := s.Restart()
				require.NoError(t, err)
				t.Cleanup(func() { again.Finish(t) })
				c = again.Client(t)
				require.Equal(t, want, all(c))
				require.Equal(t, do(t, c, "XINFO", "STREAM", "sent").Elems[7].Text(),
					do(t, c, "XADD", "sent", "IDMP", "producer", "1", "*", "f", "v").Text())
			})
		}
	}
}
