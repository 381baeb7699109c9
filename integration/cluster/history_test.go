package cluster

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"godwit/internal/testserver"
)

// history is what clients did with a few keys, each of which is a register: a value is written or
// read. A write that nobody knows the end of may take effect at any time, or never.
type history struct {
	begin time.Time
	mu    sync.Mutex
	ops   []porcupine.Operation
	last  int // the highest number of a client
}

// input is an operation on a register: a write unless value is "".
type input struct{ key, value string }

// register is the model. A state is the value of one key, "" if it has none.
var register = porcupine.Model{
	Partition: func(all []porcupine.Operation) (parts [][]porcupine.Operation) {
		at := map[string]int{}
		for _, op := range all {
			key := op.Input.(input).key
			i, ok := at[key]
			if !ok {
				i = len(parts)
				at[key], parts = i, append(parts, nil)
			}
			parts[i] = append(parts[i], op)
		}
		return parts
	},
	Init: func() any { return "" },
	Step: func(state, in, out any) (bool, any) {
		if v := in.(input).value; v != "" {
			return true, v
		}
		return out == state, state
	},
	DescribeOperation: func(in, out any) string {
		if i := in.(input); i.value != "" {
			return fmt.Sprintf("%s = %s", i.key, i.value)
		}
		return fmt.Sprintf("%s: %v", in.(input).key, out)
	},
}

// client returns the number of a new client.
func (h *history) client() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last++
	return h.last
}

// now is the time since the beginning.
func (h *history) now() int64 { return int64(time.Since(h.begin)) }

func (h *history) add(op porcupine.Operation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, op)
}

// use reads and writes the keys until ctx ends. Replies that are errors say that nothing was done,
// but for UNCONFIRMED: what was written then may stay or not.
func (h *history) use(ctx context.Context, w *walker, rnd *rand.Rand, keys []string) {
	id := h.client()
	for n := 0; ctx.Err() == nil; n++ {
		op := porcupine.Operation{ClientId: id, Call: h.now()}
		in := input{key: keys[rnd.IntN(len(keys))]}
		args := []any{"GET", in.key}
		if rnd.IntN(2) == 0 {
			in.value = fmt.Sprintf("%d.%d", id, n)
			args = []any{"SET", in.key, in.value}
		}
		v, err := w.do(in.key, args...)
		op.Input, op.Output, op.Return = in, v.Text(), h.now()
		unknown := err != nil || strings.HasPrefix(v.Text(), "UNCONFIRMED")
		switch {
		case unknown && in.value != "":
			op.Return = math.MaxInt64
			h.add(op)
			id = h.client() // this one is busy for ever
		case !unknown && !v.IsError():
			h.add(op)
		}
		if err != nil || v.IsError() {
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Duration(rnd.IntN(3)) * time.Millisecond)
	}
}

// check reports whether the history is that of registers. It gives up after a while, which it
// reports as Unknown.
func (h *history) check() porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(register, bounded(h.ops), testserver.Patience)
}

// bounded gives writes that nobody knows the end of one, which keeps the check short: a value that
// has been read was written before the first read of it had ended, and a write of a value that was
// never read makes no difference. Each value is written once.
func bounded(all []porcupine.Operation) (list []porcupine.Operation) {
	read := map[input]int64{} // by key and value: when the first read of it ended
	for _, op := range all {
		if in := op.Input.(input); in.value == "" {
			in.value = op.Output.(string)
			if at, ok := read[in]; !ok || op.Return < at {
				read[in] = op.Return
			}
		}
	}
	for _, op := range all {
		if op.Return == math.MaxInt64 {
			at, ok := read[op.Input.(input)]
			if !ok {
				continue
			}
			op.Return = max(at, op.Call)
		}
		list = append(list, op)
	}
	return list
}
