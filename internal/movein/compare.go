package movein

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"godwit/internal/crash"
	"godwit/internal/resp/client"
	"godwit/internal/slot"
)

// compared is what was compared of a shard.
type compared struct {
	keys   int64
	values int
	err    error
}

// compareAll compares all shards at once: how many keys each slot has in each database, and some
// values.
func (m *mover) compareAll() (total compared) {
	each := make([]compared, len(m.pairs))
	var wait sync.WaitGroup
	for i, p := range m.pairs {
		wait.Go(func() {
			defer crash.Guard("comparing a shard")()
			each[i] = p.compare(m.dbs, m.o.Sample)
		})
	}
	wait.Wait()
	for _, c := range each {
		total.keys += c.keys
		total.values += c.values
		total.err = errors.Join(total.err, c.err)
	}
	return total
}

func (p *pair) compare(dbs []int, sample int) (c compared) {
	if _, c.err = p.to.do("READONLY"); c.err != nil { // nobody owns the slots yet
		return c
	}
	for _, db := range dbs {
		counts, err := p.compareCounts(db)
		if err != nil {
			c.err = err
			return c
		}
		for _, n := range counts {
			c.keys += n
		}
		n, err := p.compareValues(db, sample, counts)
		c.values += n
		if err != nil {
			c.err = err
			return c
		}
	}
	return c
}

// compareCounts returns how many keys each slot has in a database. It is an error if the two sides
// differ, or if the source has keys in other slots.
func (p *pair) compareCounts(db int) (map[int]int64, error) {
	there, all, err := p.from.counts(db, &p.slots)
	if err != nil {
		return nil, err
	}
	here, _, err := p.to.counts(db, &p.slots)
	if err != nil {
		return nil, err
	}
	for i, n := range there {
		if here[i] != n {
			return nil, fmt.Errorf("slot %d has %d keys at %s, but %d at %s", i, n, p.from.addr,
				here[i], p.to.addr)
		}
		all -= n
	}
	if all != 0 {
		return nil, fmt.Errorf("%s has keys in slots that it does not own", p.from.addr)
	}
	return there, nil
}

// counts returns how many keys each of the slots has in a database, and how many there are in all.
func (n *node) counts(db int, slots *slot.Set) (counts map[int]int64, all int64, err error) {
	commands := [][]any{{"DBSIZE"}}
	slots.Each(func(i int) bool {
		commands = append(commands, []any{"CLUSTER", "COUNTKEYSINSLOT", i})
		return true
	})
	list, err := n.within(db, commands)
	if err != nil {
		return nil, 0, err
	}
	counts = map[int]int64{}
	for i, v := range list {
		if v.IsError() {
			return nil, 0, fmt.Errorf("%s: %v: %s", n.addr, commands[i][0], v.Text())
		}
		if i > 0 {
			counts[commands[i][2].(int)] = v.Int
		}
	}
	return counts, list[0].Int, nil
}

// within sends commands for a database.
func (n *node) within(db int, commands [][]any) ([]client.Value, error) {
	if err := n.dial(); err != nil {
		return nil, err
	}
	if db != 0 {
		if _, err := n.do("SELECT", db); err != nil {
			return nil, err
		}
		defer func() { _, _ = n.do("SELECT", 0) }() // a lost connection is at 0 again
	}
	return n.pipeline(commands)
}

// compareValues compares some values, with types and deadlines. counts has the keys of each slot.
func (p *pair) compareValues(db, sample int, counts map[int]int64) (int, error) {
	keys, err := p.sample(db, sample, counts)
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	var differs string
	for range 3 { // a deadline may pass between the two
		there, err := p.from.values(db, keys)
		if err != nil {
			return 0, err
		}
		here, err := p.to.values(db, keys)
		if err != nil {
			return 0, err
		}
		if slices.Equal(there, here) {
			return len(keys), nil
		}
		i := 0
		for there[i] == here[i] {
			i++
		}
		differs = fmt.Sprintf("key %q differs: %.200s at %s, %.200s at %s", keys[i], there[i],
			p.from.addr, here[i], p.to.addr)
	}
	return 0, errors.New(differs)
}

// sample returns keys of a shard, from slots all over it.
func (p *pair) sample(db, most int, counts map[int]int64) (keys []string, err error) {
	var full []int
	for i, n := range counts {
		if n > 0 {
			full = append(full, i)
		}
	}
	slices.Sort(full)
	if len(full) == 0 || most == 0 {
		return nil, nil
	}
	per := (most + len(full) - 1) / len(full)
	step := max(len(full)/most, 1)
	var commands [][]any
	for i := 0; i < len(full); i += step {
		commands = append(commands, []any{"CLUSTER", "GETKEYSINSLOT", full[i], per})
	}
	list, err := p.from.within(db, commands)
	for _, v := range list {
		keys = append(keys, v.Strings()...)
	}
	return keys[:min(len(keys), most)], err
}

// longest is how many elements, or bytes of a string, are compared. Of longer values the length is.
const longest = 1000

// readers say how a value of each type is measured and read, and whether its elements have no
// order.
var readers = map[string]struct {
	length, read []any
	unordered    bool
	pairs        bool // elements come in twos
}{
	"string": {[]any{"STRLEN"}, []any{"GET"}, false, false},
	"list":   {[]any{"LLEN"}, []any{"LRANGE", 0, -1}, false, false},
	"set":    {[]any{"SCARD"}, []any{"SMEMBERS"}, true, false},
	"hash":   {[]any{"HLEN"}, []any{"HGETALL"}, true, true},
	"zset":   {[]any{"ZCARD"}, []any{"ZRANGE", 0, -1, "WITHSCORES"}, false, false},
	"stream": {[]any{"XLEN"}, []any{"XRANGE", "-", "+"}, false, false},
}

// on puts a key behind the command's name.
func on(command []any, key string) []any {
	return append([]any{command[0], key}, command[1:]...)
}

// values returns a text for each key, the same for the same value on any server.
func (n *node) values(db int, keys []string) ([]string, error) {
	var commands [][]any
	for _, key := range keys {
		commands = append(commands, []any{"TYPE", key}, []any{"PEXPIRETIME", key})
	}
	heads, err := n.within(db, commands)
	if err != nil {
		return nil, err
	}
	texts, commands := make([]string, len(keys)), nil
	for i, key := range keys {
		kind := heads[2*i].Text()
		texts[i] = kind + " " + heads[2*i+1].Text()
		if r, known := readers[kind]; known {
			commands = append(commands, on(r.length, key))
		} else {
			commands = append(commands, []any{"TYPE", key})
		}
	}
	lengths, err := n.within(db, commands)
	if err != nil {
		return nil, err
	}
	var which []int
	commands = nil
	for i, key := range keys {
		texts[i] += " " + lengths[i].Text()
		if r, known := readers[heads[2*i].Text()]; known && lengths[i].Int <= longest {
			which, commands = append(which, i), append(commands, on(r.read, key))
		}
	}
	list, err := n.within(db, commands)
	if err != nil {
		return nil, err
	}
	for k, v := range list {
		i := which[k]
		texts[i] += " " + plain(v, heads[2*i].Text())
	}
	return texts, nil
}

// plain returns a text for a reply.
func plain(v client.Value, kind string) string {
	r := readers[kind]
	if !r.unordered {
		return v.String()
	}
	list := v.Strings()
	if r.pairs {
		var twos []string
		for i := 0; i+1 < len(list); i += 2 {
			twos = append(twos, fmt.Sprintf("%q %q", list[i], list[i+1]))
		}
		list = twos
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}
