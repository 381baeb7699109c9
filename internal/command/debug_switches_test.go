package command

import (
	"fmt"
	"strings"
	"testing"

	"godwit/internal/spec"
)

// TestDictResizing checks that DEBUG DICT-RESIZING keeps the size of a table, both ways.
func TestDictResizing(t *testing.T) {
	l := debugLocal(t)
	stats := func() string { return run(t, l, "debug", "htstats", "0").Text() }
	has := func(what string) {
		t.Helper()
		if !strings.Contains(stats(), what) {
			t.Fatalf("no %q in\n%s", what, stats())
		}
	}
	finish := func() {
		for l.e.KS.RehashSlice(1000) {
		}
	}
	run(t, l, "debug", "populate", "1000")
	finish()
	run(t, l, "debug", "dict-resizing", "0")
	for i := range 1000 {
		if i%100 != 0 {
			run(t, l, "del", fmt.Sprint("key:", i))
		}
	}
	has("table bytes: 8192") // of ten keys
	run(t, l, "debug", "populate", "20000")
	has("rehashing: false")
	for i := range 20000 {
		if run(t, l, "get", fmt.Sprint("key:", i)).IsNull() {
			t.Fatalf("key:%d is gone", i)
		}
	}
	run(t, l, "debug", "dict-resizing", "1")
	run(t, l, "set", "one", "more")
	has("rehashing: true")
	finish()
}

// TestDeniedCommandsInScripts calls every command that is denied to scripts from one, with
// arguments of many numbers. Whatever they answer, the server goes on.
func TestDeniedCommandsInScripts(t *testing.T) {
	l := debugLocal(t)
	run(t, l, "debug", "set-disable-deny-scripts", "1")
	for _, cmd := range l.e.Table().All() {
		switch {
		case !cmd.Is(spec.NoScript), cmd.Name == "debug", cmd.Name == "shutdown",
			cmd.FullName() == "client|pause":
			continue
		}
		for n := range 5 {
			words := append(strings.Split(cmd.FullName(), "|"), "1", "1", "0", "x")
			words = words[:min(len(words), n+1)]
			run(t, l, "eval", "return redis.pcall('"+strings.Join(words, "','")+"')", "0")
			if v := string(l.exec(argvOf("echo", "alive"))); !strings.Contains(v, "alive") {
				t.Errorf("%s: then %q", words, v)
			}
		}
	}
}

func TestDebugClientEviction(t *testing.T) {
	l := debugLocal(t)
	run(t, l, "config", "set", "maxmemory-clients", "100m")
	text := run(t, l, "debug", "client-eviction").Text()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 19 ||
		lines[1] != "bucket      32768 -      65535: tot-mem:          0, clients: 0" ||
		lines[18] != "bucket 4294967296+            : tot-mem:          0, clients: 0" {
		t.Error(text)
	}
}
