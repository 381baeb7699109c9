package command

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/engine"
	"godwit/internal/invariant"
	"godwit/internal/resp/client"
	"godwit/internal/testseed"
)

// pipelines sends pipelines to a node of a cluster that come in the same memory again and again, as
// input does. The gate goes by hashes that prefetching has computed, and lookups by the gate's:
// none may be that of what was there before.
type pipelines struct {
	t     *testing.T
	r     *rand.Rand
	l     *local
	model map[string]string
	input []byte
	batch [][][]byte
	want  []string
}

// add puts a command into the pipeline, and what its reply says.
func (p *pipelines) add(want string, command ...string) {
	argv := [][]byte{}
	for _, a := range command {
		from := len(p.input)
		p.input = append(p.input, a...)
		argv = append(argv, p.input[from:len(p.input):len(p.input)])
	}
	p.batch, p.want = append(p.batch, argv), append(p.want, want)
}

// step adds a random command, or some that belong together.
func (p *pipelines) step() {
	key, value := fmt.Sprintf("key:%05d", p.r.IntN(prefetchSpace)), strconv.Itoa(p.r.IntN(1000))
	is, ok := p.model[key]
	was := strconv.Quote(is)
	if !ok {
		was = "null"
	}
	switch p.r.IntN(8) {
	case 0, 1:
		p.add(was, "GET", key)
	case 2:
		p.add("simple:OK", "SET", key, value)
		p.model[key] = value
	case 3:
		p.add(was, "SET", key, value, "GET")
		p.model[key] = value
	case 4:
		p.add(was, "GETDEL", key)
		delete(p.model, key)
	case 5:
		p.add(was, "EVAL", "return redis.call('get', KEYS[1])", "1", key)
	case 6:
		p.add(fmt.Sprintf("array[%s %q]", was, value), "EVAL", "local v = redis.call('get', "+
			"KEYS[1]) redis.call('set', KEYS[1], ARGV[1]) return {v, redis.call('get', KEYS[1])}",
			"1", key, value)
		p.model[key] = value
	case 7:
		p.add("simple:OK", "MULTI")
		p.add("simple:QUEUED", "SET", key, value)
		p.add("simple:QUEUED", "GET", key)
		p.add(fmt.Sprintf("array[simple:OK %q]", value), "EXEC")
		p.model[key] = value
	}
}

// run runs the pipeline as a session does.
func (p *pipelines) run() {
	e := p.l.e
	e.Enter()
	defer e.Leave()
	if e.EndPrefetch(); len(p.batch) > 1 {
		e.Prefetch(p.l.c, p.batch[:min(len(p.batch), engine.PrefetchMax)])
	}
	for i, argv := range p.batch {
		p.l.c.W.Buf = p.l.c.W.Buf[:0]
		require.True(p.t, e.Exec(p.l.c, argv))
		v, _, err := client.Parse(p.l.c.W.Buf)
		require.NoError(p.t, err)
		require.Equal(p.t, p.want[i], v.String(), "%q", argv)
		for _, a := range argv {
			clear(a)
		}
	}
	e.EndPrefetch()
	p.input, p.batch, p.want = p.input[:0], p.batch[:0], p.want[:0]
}

// TestPipelinesInCluster compares the replies with a model.
func TestPipelinesInCluster(t *testing.T) {
	p := &pipelines{t: t, r: testseed.Rand(t), l: newClusterNode(t, allSlots, nil),
		model: map[string]string{}, input: make([]byte, 0, 1<<14)}
	for i := range prefetchSpace {
		key := fmt.Sprintf("key:%05d", i)
		p.add("simple:OK", "SET", key, "x")
		p.model[key] = "x"
		p.run()
	}
	rounds := 2000
	if invariant.Enabled {
		rounds = 500
	}
	for range rounds {
		for range 1 + p.r.IntN(12) {
			p.step()
		}
		p.run()
	}
	require.Equal(t, len(p.model), p.l.e.KS.DB(0).Len())
	require.NoError(t, p.l.e.KS.Check())
}
