package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"godwit/internal/resp/client"
	"godwit/internal/slot"
	"godwit/internal/testserver"
)

// moving is how many slots move: half of those of the first master, its lowest ones, which are
// those that redis-cli takes.
const moving = slot.Count / 4

// probed is the number of keys that probing clients use, of each master.
const probed = 10_000

// move is one measurement.
type move struct {
	*settings
	kind     testserver.Kind
	from, to *testserver.Node
	keys     int // that move
}

func (m *move) run(ctx context.Context) (r result, err error) {
	if err = m.fill(); err != nil {
		return r, fmt.Errorf("fill: %w", err)
	}
	idle, err := m.probe(ctx, func(ctx context.Context) error {
		select {
		case <-ctx.Done():
		case <-time.After(m.idle):
		}
		return ctx.Err()
	})
	if err != nil {
		return r, fmt.Errorf("idle: %w", err)
	}
	r = result{kind: m.kind, idle: idle}
	cpu := m.cpu()
	r.during, err = m.probe(ctx, func(ctx context.Context) error {
		begin := time.Now()
		err := m.move(ctx)
		r.took = time.Since(begin)
		return err
	})
	r.cpu = m.cpu() - cpu
	if err == nil {
		err = m.arrived(ctx)
	}
	return r, err
}

// cpu returns the CPU time that both servers have used, in seconds.
func (m *move) cpu() (sum float64) {
	for _, n := range []*testserver.Node{m.from, m.to} {
		for _, name := range []string{"used_cpu_sys", "used_cpu_user", "used_cpu_sys_children",
			"used_cpu_user_children"} {
			v, err := n.Info("cpu")
			if x, err2 := strconv.ParseFloat(v[name], 64); err == nil && err2 == nil {
				sum += x
			}
		}
	}
	return sum
}

// fill writes the keys that move, and those of the probing clients.
func (m *move) fill() error {
	conn, err := m.from.Dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	// Values are random, so that nobody can compress them.
	rng := rand.New(rand.NewPCG(1, 2))
	pool := make([]byte, 1<<20+m.value)
	for i := range pool {
		pool[i] = byte(rng.Uint32())
	}
	total := m.mb << 20 / m.value
	for n := 0; m.keys < total; n++ {
		key := "key:" + strconv.Itoa(n)
		if slotOf(key) >= moving {
			continue
		}
		at := rng.IntN(1 << 20)
		conn.QueueArgs([]byte("SET"), []byte(key), pool[at:at+m.value])
		if m.keys++; m.keys%1000 == 0 || m.keys == total {
			if err := flush(conn); err != nil {
				return err
			}
		}
	}
	for _, n := range []*testserver.Node{m.from, m.to} {
		if err := m.probeKeys(n); err != nil {
			return err
		}
	}
	return nil
}

// probeKeys writes a master's keys for probing clients.
func (m *move) probeKeys(n *testserver.Node) error {
	conn, err := n.Dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, key := range m.probes(n) {
		conn.Queue("SET", key, "value")
	}
	return flush(conn)
}

// probes returns keys of slots that a master has and keeps.
func (m *move) probes(n *testserver.Node) (keys []string) {
	first, next := moving, slot.Count/2
	if n == m.to {
		first, next = slot.Count/2, slot.Count
	}
	for i := 0; len(keys) < probed; i++ {
		key := "probe:" + strconv.Itoa(i)
		if s := slotOf(key); first <= s && s < next {
			keys = append(keys, key)
		}
	}
	return keys
}

func slotOf(key string) int { return int(slot.Of([]byte(key))) }

// flush sends what is queued, and wants OK each time.
func flush(conn *client.Client) error {
	vs, err := conn.Pipeline()
	if err != nil {
		return err
	}
	for _, v := range vs {
		if v.IsError() {
			return fmt.Errorf("%s", v.Text())
		}
	}
	return nil
}

// move moves the slots, and returns when the other master has them.
func (m *move) move(ctx context.Context) error {
	if m.kind == testserver.Redis8 {
		return m.reshard(ctx)
	}
	v, err := m.from.Do("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", 0, moving-1, "NODE", m.to.ID)
	if err != nil {
		return err
	}
	if v.IsError() {
		return fmt.Errorf("CLUSTER MIGRATESLOTS: %s", v.Text())
	}
	for ctx.Err() == nil {
		v, err := m.from.Do("CLUSTER", "GETSLOTMIGRATIONS")
		if err != nil {
			return err
		}
		switch text := v.String(); {
		case strings.Contains(text, `"success"`):
			return nil
		case strings.Contains(text, `"failed"`):
			return fmt.Errorf("the migration has failed: %s", text)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return ctx.Err()
}

// reshard has redis-cli move the slots key by key.
func (m *move) reshard(ctx context.Context) error {
	cli, err := testserver.Redis.Find("cli")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, cli, "--cluster", "reshard", m.from.Addr, "--cluster-from",
		m.from.ID, "--cluster-to", m.to.ID, "--cluster-slots", strconv.Itoa(moving),
		"--cluster-yes")
	var fault strings.Builder
	cmd.Stdout, cmd.Stderr = io.Discard, &fault // a dot for each key
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("redis-cli: %w: %s", err, fault.String())
	}
	return nil
}

// arrived waits until the source has deleted what has moved, and counts the keys.
func (m *move) arrived(ctx context.Context) error {
	for ctx.Err() == nil {
		left, err := m.from.Do("DBSIZE")
		if err != nil {
			return err
		}
		got, err := m.to.Do("DBSIZE")
		if err != nil {
			return err
		}
		if want := int64(m.keys + probed); got.Int != want {
			return fmt.Errorf("the destination has %d keys, not %d", got.Int, want)
		}
		if left.Int == probed {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return ctx.Err()
}
