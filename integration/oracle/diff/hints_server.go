package diff

import (
	"strconv"
	"strings"
)

// The hints of commands about connections and about the server.

func connHints() map[string]hint {
	name := oneOf("n1", "n2", "", "bad name", "bad\nname", "\x00", "é")
	protover := func(g *Generator) []string {
		if g.cfg.Resp != 0 {
			return []string{strconv.Itoa(g.cfg.Resp)}
		}
		return []string{g.pick("2", "3", "2", "3", "2", "3", "1", "4", "x", "-3", "")}
	}
	return map[string]hint{
		"*.protover": protover, "*.username": oneOf("default", "default", "nobody", ""),
		"*.clientname": name, "*.connection-name": name,
		"*.client-id":            oneOf("999999999", "0", "-1", "abc", "9223372036854775807"),
		"*.ip:port":              oneOf("127.0.0.1:1", "nonsense", "[::1]:1"),
		"client|kill.username":   oneOf("nobody"),
		"client|kill.yes/no":     oneOf("yes", "no", "maybe"),
		"client|kill.client-id":  oneOf("999999999", "0", "-1", "abc"),
		"client|setinfo.libname": name, "client|setinfo.libver": name,
		"*.password": oneOf("", "secret"),
	}
}

// confParam is a directive that CONFIG SET may change in a stream.
type confParam struct {
	name, def string
	values    []string // good and bad ones
}

// confParams returns directives whose value changes only what both servers do in the same way:
// encodings, limits, and plain storage of the value.
func confParams() []confParam {
	return []confParam{
		{"hash-max-listpack-entries", "128", []string{"0", "2", "128", "-1", "x"}},
		{"hash-max-ziplist-value", "64", []string{"4", "64", "abc"}},
		{"list-max-listpack-size", "-2", []string{"-2", "2", "5", "-1", "1", "0"}},
		{"list-compress-depth", "0", []string{"0", "1", "2"}},
		{"set-max-intset-entries", "512", []string{"1", "2", "512"}},
		{"zset-max-listpack-entries", "128", []string{"0", "2", "128"}},
		{"zset-max-listpack-value", "64", []string{"4", "64"}},
		{"hll-sparse-max-bytes", "3000", []string{"0", "30", "300", "3000", "x"}},
		{"stream-node-max-entries", "100", []string{"2", "100"}},
		{"lazyfree-lazy-user-del", "no", []string{"yes", "no", "maybe", "YES"}},
		{"lazyfree-lazy-user-flush", "no", []string{"yes", "no", ""}},
		{"lazyfree-lazy-server-del", "no", []string{"yes", "no"}},
		{"slowlog-max-len", "128", []string{"0", "128", "-1"}},
		{"maxmemory-samples", "5", []string{"3", "5", "0", "x"}},
		{"maxmemory-policy", "noeviction",
			[]string{"allkeys-lru", "volatile-lru", "volatile-ttl", "volatile-random",
				"allkeys-random", "noeviction", "nosuch"}},
		{"maxmemory", "0", []string{"0", "10gb", "10g", "-1", "x", "20000000000b"}},
		{"lfu-log-factor", "10", []string{"10", "20"}},
		{"timeout", "0", []string{"0", "100000", "-1"}},
		{"tcp-keepalive", "300", []string{"300", "60"}},
		{"proto-max-bulk-len", "512mb", []string{"512mb", "1mb", "1048576", "100", "2097152b"}},
		{"notify-keyspace-events", "", []string{"", "KEA", "Ex", "Kg$", "bad?", "AKE"}},
		{"client-query-buffer-limit", "1gb", []string{"1gb", "10mb", "1"}},
		{"latency-monitor-threshold", "0", []string{"0", "1000000", "-1"}},
		{"hz", "10", []string{"10", "20"}},
		{"nosuch-directive", "", []string{"1"}},
	}
}

func serverHints() map[string]hint {
	command := oneOf("get", "SET", "mget", "config", "client|list", "object|encoding", "nosuch",
		"bitop", "expire", "")
	return map[string]hint{
		"config|get.parameter": func(g *Generator) []string {
			p := g.conf[g.rnd.IntN(len(g.conf))].name
			return []string{g.pick(p, p, p, strings.ToUpper(p), "lazyfree-lazy-user-*", "nosuch*",
				"[t]imeout", "maxmemory-polic?", "databases", "hash-max-*", "")}
		},
		"config|set.parameter_value": func(g *Generator) []string {
			p := g.conf[g.rnd.IntN(len(g.conf))]
			return []string{g.casing(p.name), g.pick(p.values...)}
		},
		"*.command-name": command, "*.category": oneOf("string", "bitmap", "read", "nosuch", ""),
		"*.module-name": oneOf("nosuch"), "latency|histogram.command": command,
		"*.event":        oneOf("nosuch", "command"),
		"info.section":   oneOf("server", "clients", "keyspace", "nosuch", "everything", "all"),
		"lolwut.version": oneOf("5", "6", "999"), "*.username": oneOf("default", "nobody"),
		"acl|cat.categoryname": oneOf("string", "read", "nosuch"),
	}
}
