package server

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"godwit/internal/command"
	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/logging"
)

// BenchmarkPipeline runs pipelines of sixteen commands through a session, without sockets: what a
// command costs beside the kernel. The time is that of one command.
func BenchmarkPipeline(b *testing.B) {
	value := strings.Repeat("x", 64)
	for _, bench := range []struct{ name, format string }{
		{"ping", "PING"},
		{"get", "GET key:%d"},
		{"set", "SET key:%d " + value},
		{"incr", "INCR counter:%d"},
		{"hset", "HSET hash element:%d abc"},
		{"sadd", "SADD set element:%d"},
		{"pfadd", "PFADD hll element:%d"},
		{"lpush", "LPUSH list " + value},
		{"rpop", "RPOP list"},
	} {
		for _, keys := range []int{1000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/keys=%d", bench.name, keys), func(b *testing.B) {
				benchPipeline(b, bench.format, keys)
			})
		}
	}
}

func benchPipeline(b *testing.B, format string, keys int) {
	cfg, err := config.Parse("bench", "save \"\"")
	if err != nil {
		b.Fatal(err)
	}
	e := engine.New(cfg, command.Table(), engine.Options{Log: logging.Discard()})
	s, err := New(e, Options{ForceGoroutines: true})
	if err != nil {
		b.Fatal(err)
	}
	e.Enter()
	defer e.Leave()
	c := session{srv: s}
	c.cl, _ = s.admit(nil, peer{addr: "127.0.0.1:1", local: true})
	out := make([]byte, 0, 64<<10)
	turn := func(in []byte) {
		c.cl.W.Buf = out
		for len(in) > 0 {
			in = in[c.run(in):]
		}
	}
	for i := range keys {
		turn(request(fmt.Sprintf("SET key:%d %064d", i, i)))
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	pipelines := make([][]byte, max(keys/16, 64))
	for i := range pipelines {
		for range 16 {
			line := strings.Replace(format, "%d", fmt.Sprint(rnd.IntN(keys)), 1)
			pipelines[i] = append(pipelines[i], request(line)...)
		}
	}
	for _, in := range pipelines {
		turn(in)
	}
	if c.cl.W.Buf[0] == '-' {
		b.Fatalf("%s", c.cl.W.Buf)
	}
	b.ResetTimer()
	for i := 0; i < b.N; i += 16 {
		turn(pipelines[i/16%len(pipelines)])
	}
}

// request returns a line's words as a multibulk.
func request(line string) []byte {
	words := strings.Fields(line)
	b := fmt.Appendf(nil, "*%d\r\n", len(words))
	for _, w := range words {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b
}
