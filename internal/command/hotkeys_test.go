package command

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"godwit/internal/resp/client"
)

// hotMap returns what HOTKEYS GET shows. The lists are their words.
func hotMap(t *testing.T, l *local) map[string]string {
	m := map[string]string{}
	elems := run(t, l, "hotkeys", "get").Elems[0].Elems
	for i := 0; i+1 < len(elems); i += 2 {
		v := elems[i+1]
		var words []string
		for _, e := range v.Elems {
			words = append(words, e.Text())
		}
		if m[elems[i].Str] = strings.Join(words, " "); v.Kind == client.Int {
			m[elems[i].Str] = fmt.Sprint(v.Int)
		}
	}
	return m
}

func TestHotKeys(t *testing.T) {
	l := newLocal(t)
	run(t, l, "hotkeys", "start", "metrics", "2", "cpu", "net", "count", "2")
	run(t, l, "set", "hot", "0123456789") // *3 $3 SET $3 hot $10 0123456789: 39; +OK: 5
	run(t, l, "get", "hot")               // 22 and 17
	run(t, l, "mset", "hot", "1", "w", "2")
	run(t, l, "eval", "redis.call('get', 'inner') return 1", "1", "w")
	run(t, l, "ping")
	run(t, l, "multi")
	run(t, l, "get", "w")          // 20 and 7
	run(t, l, "exec", "xx", "hot") // which is not what makes a key hot
	m := hotMap(t, l)
	if m["tracking-active"] != "1" || m["sample-ratio"] != "1" {
		t.Errorf("%q", m)
	}
	words := strings.Fields(m["by-net-bytes"])
	if len(words) != 4 || m["total-net-bytes"] == "" {
		t.Errorf("%q", m)
	}
	if i := slices.Index(words, "hot"); i < 0 || words[i+1] != fmt.Sprint(39+5+22+17+(44+5)/2) {
		t.Errorf("%q", m)
	}
	if len(strings.Fields(m["by-cpu-time-us"])) != 4 || m["total-cpu-time-user-ms"] == "" {
		t.Errorf("%q", m)
	}
	run(t, l, "hotkeys", "stop")
	run(t, l, "get", "hot")
	if now := hotMap(t, l); now["tracking-active"] != "0" ||
		now["by-net-bytes"] != m["by-net-bytes"] {
		t.Errorf("%q after STOP, before %q", now, m)
	}
	if run(t, l, "hotkeys", "start", "metrics", "1", "net", "sample", "1000000").Text() != "OK" {
		t.Error("no second session")
	}
	run(t, l, "get", "hot")
	if m = hotMap(t, l); m["net-bytes-all-commands-all-slots"] != "29" ||
		m["sample-ratio"] != "1000000" {
		t.Errorf("%q", m)
	}
	if _, cpu := m["by-cpu-time-us"]; cpu {
		t.Error("CPU was not asked for")
	}
}
