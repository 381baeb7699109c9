package engine_test

import (
	"testing"

	"godwit/internal/command"
	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/logging"
)

// newEngine returns an engine with the real table, under the default configuration as changed by
// edit.
func newEngine(t testing.TB, edit func(cfg *config.Config)) *engine.Engine {
	t.Helper()
	cfg := config.Default()
	if edit != nil {
		edit(cfg)
	}
	return engine.New(cfg, command.Table(), engine.Options{Log: logging.Discard(), Seed: 7})
}

// BenchmarkSliceIdle measures what every turn of a loop pays for background work when there is
// none.
func BenchmarkSliceIdle(b *testing.B) {
	e := newEngine(b, nil)
	c := e.NewClient(nil)
	e.Enter()
	defer e.Leave()
	e.Exec(c, [][]byte{[]byte("set"), []byte("k"), []byte("v"), []byte("ex"), []byte("100")})
	for e.Slice() {
	}
	b.ReportAllocs()
	for b.Loop() {
		e.Slice()
	}
}
