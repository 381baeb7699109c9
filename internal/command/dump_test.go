package command

import (
	"strings"
	"testing"

	"godwit/internal/config"
)

func TestDumpRestore(t *testing.T) {
	l := newLocal(t)
	l.e.Cfg.EnableDebugCommand = config.GuardYes
	run(t, l, "set", "s", "hello")
	run(t, l, "rpush", "l", "a", "b", "300")
	run(t, l, "sadd", "set", "1", "2", "x")
	run(t, l, "zadd", "z", "1.5", "m")
	run(t, l, "hset", "h", "f", "v")
	for _, key := range []string{"s", "l", "set", "z", "h"} {
		payload := run(t, l, "dump", key).Text()
		before := run(t, l, "debug", "digest-value", key).Elems[0].Text()
		v := run(t, l, "restore", key, "0", payload)
		if v.Str != "BUSYKEY Target key name already exists." {
			t.Errorf("%s: %v", key, v)
		}
		v = run(t, l, "restore", key, "0", payload, "replace", "IDLETIME", "100")
		if v.Text() != "OK" {
			t.Errorf("%s: %v", key, v)
		}
		if got := run(t, l, "debug", "digest-value", key).Elems[0].Text(); got != before {
			t.Errorf("%s: another value", key)
		}
		if v := run(t, l, "object", "idletime", key); v.Int != 100 {
			t.Errorf("%s: idle %v", key, v)
		}
		for i := range len(payload) {
			bad := []byte(payload)
			bad[i] ^= 1
			v := run(t, l, "restore", "new", "0", string(bad))
			if v.Str != "ERR DUMP payload version or checksum are wrong" {
				t.Errorf("%s, byte %d: %v", key, i, v)
			}
		}
	}
}

// TestRestoreArguments tests the options of RESTORE, valid and invalid.
func TestRestoreArguments(t *testing.T) {
	l := newLocal(t)
	run(t, l, "set", "s", "hello")
	payload := run(t, l, "dump", "s").Text()
	for _, c := range []struct{ args, want string }{
		{"0 P idletime -1", "ERR Invalid IDLETIME value, must be >= 0"},
		{"0 P freq 256", "ERR Invalid FREQ value, must be >= 0 and <= 255"},
		{"0 P freq 1 idletime 1", "ERR syntax error"},
		{"0 P idletime", "ERR syntax error"},
		{"0 P nonsense", "ERR syntax error"},
		{"-1 P", "ERR Invalid TTL value, must be >= 0"},
		{"x P", "ERR value is not an integer or out of range"},
		{"0 x", "ERR DUMP payload version or checksum are wrong"},
	} {
		args := []string{"restore", "none"}
		for _, w := range strings.Fields(c.args) {
			if w == "P" {
				w = payload
			}
			args = append(args, w)
		}
		if v := run(t, l, args...); v.Str != c.want {
			t.Errorf("%s: %v", c.args, v)
		}
	}
	run(t, l, "restore", "s2", "1000000", payload)
	if v := run(t, l, "pttl", "s2"); v.Int < 900000 || v.Int > 1000000 {
		t.Errorf("ttl %v", v)
	}
	if v := run(t, l, "restore", "s2", "1000", payload, "absttl", "replace"); v.Text() != "OK" {
		t.Error(v)
	}
	if v := run(t, l, "exists", "s2"); v.Int != 0 {
		t.Error("a key restored with a deadline in the past is there")
	}
	if v := run(t, l, "dump", "none"); !v.IsNull() {
		t.Error(v)
	}
}
