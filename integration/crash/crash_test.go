// Package crash loads the server and kills it with kill -9 at random moments, or ends it in order.
// After a restart it compares what the server has with what it promised.
//
//	GODWIT_SEED=42 go test ./integration/crash -rounds 200 -endings 200
package crash

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"godwit/internal/resp/client"
	"godwit/internal/testseed"
)

var rounds = flag.Int("rounds", 14, "how often the server is killed")

const workers = 5

// policy is a promise, and the arguments with which the server makes it.
type policy struct {
	name string
	args []string
	// mustHave reports whether a unit that was acknowledged at acked must be there after a kill at
	// killed. Times are in ms.
	mustHave func(acked, killed, floor int64) bool
}

var policies = []policy{
	{"always", []string{"--appendonly", "yes", "--appendfsync", "always", "--save", ""},
		func(_, _, _ int64) bool { return true }},
	{"everysec", []string{"--appendonly", "yes", "--appendfsync", "everysec", "--save", ""},
		func(acked, killed, _ int64) bool { return acked < killed-2000 }},
	{"dumps", []string{"--appendonly", "no", "--save", ""},
		func(acked, _, floor int64) bool { return acked < floor }},
}

// dumps reports whether the server keeps nothing but dumps.
func (p *policy) dumps() bool { return p.args[1] == "no" }

func isSet(name string) (set bool) {
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == name })
	return set
}

// chain is a number of rounds on one data directory.
type chain struct {
	t       *testing.T
	rnd     *rand.Rand
	dir     string
	policy  policy
	args    []string
	p       *process
	has     features
	workers []*worker
	end     func(p *process) error // ends the server in order; nil: kill it
	how     string                 // how the last one ended it
	// spoil damages the files after the kill, see TestSeesLoss. With it, nothing rewrites the log.
	spoil func()
	// alongside, if set, does more to the running server until it is killed.
	alongside func(p *process, killed <-chan struct{})
}

// TestCrash checks that no acknowledged write is lost under appendfsync always, none older than two
// seconds under everysec, and none older than the last dump without AOF. What is there must be a
// prefix of each connection's history, and have all or nothing of each transaction and script.
func TestCrash(t *testing.T) {
	if raceEnabled && !isSet("rounds") {
		*rounds = 6
	}
	rnd := testseed.Rand(t)
	for done, number := 0, 0; done < *rounds && !t.Failed(); number++ {
		n := min(1+rnd.IntN(8), *rounds-done)
		c := &chain{t: t, rnd: rand.New(rand.NewPCG(rnd.Uint64(), 0)),
			policy: policies[number%len(policies)]}
		err := c.run(n, done)
		if err != nil {
			t.Error(err)
		}
		done += n
	}
}

// run does n rounds.
func (c *chain) run(n, first int) error {
	dir, err := os.MkdirTemp("", "godwit-crash-")
	if err != nil {
		return err
	}
	c.dir = dir
	c.configure()
	if c.p, err = c.start(); err == nil {
		c.has, err = c.p.probe()
	}
	if err == nil {
		err = c.hire()
	}
	for i := 0; i < n && err == nil; i++ {
		if err = c.round(first + i); err == nil {
			err = c.health()
		}
	}
	if c.p != nil {
		c.p.Kill()
	}
	if err == nil || c.spoil != nil {
		os.RemoveAll(c.dir)
		return err
	}
	return fmt.Errorf("policy %s, %v, files in %s: %w", c.policy.name, c.args, c.dir, err)
}

// start starts the server in the chain's folder. A server that is to be ended in order can be
// reached by all kinds of sockets.
func (c *chain) start() (*process, error) {
	if c.end != nil {
		return startWithDoors(c.dir, c.args)
	}
	return start(c.dir, c.args)
}

// hire makes the loads of the connections. Libraries of functions belong to the server, so either
// one connection has them all, or each has its own.
func (c *chain) hire() error {
	flushes := c.rnd.IntN(2) == 0
	for i := range workers {
		w := &worker{n: i, db: i % 3, base: state{}}
		w.gen = &generator{rnd: rand.New(rand.NewPCG(c.rnd.Uint64(), 0)),
			prefix: fmt.Sprintf("c%d:", i), has: c.has}
		if c.spoil == nil {
			w.gen.save = "BGREWRITEAOF"
			if c.policy.dumps() {
				w.gen.save = "BGSAVE"
			}
		}
		switch {
		case !c.has.functions:
		case !flushes:
			w.gen.functions = ownFunctions
		case i == 0:
			w.gen.functions = allFunctions
		}
		c.workers = append(c.workers, w)
	}
	if !c.has.functions {
		return nil
	}
	// This runs on a server of its own, because it must not be part of the history.
	p, err := start(c.t.TempDir(), []string{"--save", ""})
	if err != nil {
		return err
	}
	defer p.Kill()
	conn, err := p.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, w := range c.workers {
		if err := w.gen.prepare(conn); err != nil {
			return err
		}
	}
	return nil
}

// TestSeesLoss checks that the test finds a loss. It cuts off the end of the log after the kill,
// which loses acknowledged writes.
func TestSeesLoss(t *testing.T) {
	c := &chain{t: t, rnd: testseed.Rand(t), policy: policies[0]}
	c.spoil = func() {
		logs, err := filepath.Glob(filepath.Join(c.dir, "appendonlydir", "*.incr.aof"))
		if err != nil || len(logs) == 0 {
			t.Fatal("no log", err)
		}
		for _, name := range logs {
			if info, err := os.Stat(name); err != nil ||
				os.Truncate(name, info.Size()*9/10) != nil {
				t.Fatal("truncating", err)
			}
		}
	}
	err := c.run(1, 0)
	if err == nil || !strings.Contains(err.Error(), "lost: units") &&
		!strings.Contains(err.Error(), "no prefix") && !strings.Contains(err.Error(), "not start") {
		t.Fatalf("not seen: %v", err)
	}
	t.Logf("as it should: %.300v", err)
}

// configure chooses the options that should not matter.
func (c *chain) configure() {
	yesno := func() string { return []string{"yes", "no"}[c.rnd.IntN(2)] }
	c.args = append([]string{"--enable-debug-command", "yes"}, c.policy.args...) // DIGEST-VALUE
	for _, o := range []string{"aof-use-rdb-preamble", "aof-timestamp-enabled", "rdbcompression",
		"no-appendfsync-on-rewrite"} {
		c.args = append(c.args, "--"+o, yesno())
	}
	c.args = append(c.args, "--io-threads", strconv.Itoa(1+c.rnd.IntN(4)))
	if c.spoil == nil {
		c.args = append(c.args, "--auto-aof-rewrite-min-size", strconv.Itoa(64<<10<<c.rnd.IntN(6)),
			"--auto-aof-rewrite-percentage", "50")
	}
	if c.rnd.IntN(2) == 0 {
		c.args = append(c.args, "--rdb-key-save-delay", strconv.Itoa(c.rnd.IntN(300)))
	}
}

func (c *chain) health() error {
	if bad := c.p.Sick(); bad != "" {
		return fmt.Errorf("the server's log:\n%s", bad)
	}
	return nil
}

// round loads the server, kills it, starts it again and compares.
func (c *chain) round(number int) error {
	killed := make(chan struct{})
	k := &keeper{rnd: rand.New(rand.NewPCG(c.rnd.Uint64(), 0)), rdb: c.policy.dumps()}
	var wg sync.WaitGroup
	for _, w := range c.workers {
		wg.Go(func() { w.run(c.p, killed) })
	}
	if c.spoil == nil {
		wg.Go(func() { k.run(c.p, killed) })
	}
	if c.alongside != nil {
		wg.Go(func() { c.alongside(c.p, killed) })
	}
	lasts := time.Duration(50+c.rnd.IntN(700)) * time.Millisecond
	if c.policy.name == "everysec" && c.rnd.IntN(3) == 0 {
		lasts += 2 * time.Second
	}
	select {
	case <-c.p.Done():
	case <-time.After(lasts):
	}
	close(killed)
	at := time.Now().UnixMilli()
	select {
	case <-c.p.Done():
		wg.Wait()
		return fmt.Errorf("round %d: the server ended by itself:\n%s", number, c.p.Tail())
	default:
	}
	if c.end == nil {
		c.p.Kill()
	} else if err := c.end(c.p); err != nil {
		return fmt.Errorf("round %d: %w", number, err)
	}
	died := time.Now().UnixMilli()
	wg.Wait()
	if c.spoil != nil {
		c.spoil()
	}
	if err := c.health(); err != nil {
		return fmt.Errorf("round %d: %w", number, err)
	}
	units, err := c.loads(k)
	if err != nil {
		return fmt.Errorf("round %d: %w", number, err)
	}
	began := time.Now()
	p, err := c.start()
	if err != nil {
		return fmt.Errorf("round %d: %w", number, err)
	}
	c.p = p
	if testing.Verbose() {
		c.t.Logf("round %d: %s, killed after %v, %d units, %d rewrites, %d dumps, up again after "+
			"%v", number, c.policy.name, lasts, units, k.rewrites, k.dumps,
			time.Since(began).Round(time.Millisecond))
	}
	return c.compare(number, at, died, k.floor)
}

// compare compares what the server has with the history of each connection, and of all together.
func (c *chain) compare(number int, killed, died, floor int64) error {
	cut := cut{missing: math.MaxInt64}
	for _, w := range c.workers {
		if err := c.check(w, killed, died, floor, &cut); err != nil {
			return fmt.Errorf("round %d: connection %d: %w", number, w.n, err)
		}
	}
	if cut.present > cut.missing {
		return fmt.Errorf(
			"round %d: no prefix of the whole history: what was acknowledged at %d is not there, "+
				"what was sent at %d is", number, cut.missing, cut.present)
	}
	return nil
}

// loads returns how many units were sent. It returns an error if a load failed for a reason other
// than the end of the server.
func (c *chain) loads(k *keeper) (units int, err error) {
	for _, w := range c.workers {
		if w.err != nil {
			return 0, fmt.Errorf("connection %d: %w", w.n, w.err)
		}
		units += len(w.history)
	}
	return units, k.err
}

// cut is where the history ends, over all connections. If something is present, nothing may be
// missing that was acknowledged before it was sent.
type cut struct {
	missing int64 // earliest acknowledgement of what is missing, Unix ms
	present int64 // latest sending of what is present
}

// add counts a connection in. At least lo and at most hi of its units were executed. Those in
// between have changed nothing, so nobody can tell.
func (c *cut) add(history []*unit, lo, hi int, killed int64) {
	if lo > 0 {
		c.present = max(c.present, history[lo-1].sent)
	}
	if hi < len(history) && history[hi].acked < killed {
		c.missing = min(c.missing, history[hi].acked)
	}
}

// check finds the prefix of w's history that the server holds, and makes it the base of the next
// round.
func (c *chain) check(w *worker, killed, died, floor int64, cut *cut) error {
	conn, err := c.p.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	from := time.Now().UnixMilli()
	have, err := read(conn, w.db, w.gen.prefix, c.has)
	if err != nil {
		return err
	}
	to := time.Now().UnixMilli()
	var mark int64
	if v := have[w.markKey()]; v != nil {
		if mark, err = strconv.ParseInt(v.str, 10, 64); err != nil {
			return err
		}
	}
	lo, hi := w.span(mark)
	if lo < 0 {
		return fmt.Errorf("mark %d was never sent: %d to %d were", mark, w.marks,
			w.marks+int64(len(w.history)))
	}
	must := 0
	for i, u := range w.history {
		if u.acked == 0 {
			u.acked = died
		} else if c.policy.mustHave(u.acked, killed, floor) {
			must = i + 1
		}
	}
	if hi < must {
		return fmt.Errorf(
			"lost: units %d to %d of %d were acknowledged, the last one %d ms before the kill "+
				"(mark %d): %.200q",
			hi, must-1, len(w.history), killed-w.history[must-1].acked, mark, w.history[hi].cmds)
	}
	var wrong [][]string
	var found state
	first, last := 0, 0 // the shortest and the longest prefix that match
	s := w.base.clone()
	for i := 0; i <= hi; i++ {
		if i >= max(lo, must) {
			diff := differences(s, have, from, to)
			if len(diff) == 0 {
				if last = i; found == nil {
					first, found = i, s.clone()
				}
			}
			wrong = append(wrong, diff)
		}
		if i < hi {
			w.history[i].apply(s)
		}
	}
	if found == nil {
		return w.mismatch(wrong, max(lo, must), mark)
	}
	cut.add(w.history, first, last, killed)
	w.rebase(found, have, mark)
	return nil
}

// span returns how many units may have been executed when the server holds the mark: at least up to
// the unit that set it, and at most up to the one before the next mark.
func (w *worker) span(mark int64) (lo, hi int) {
	lo = -1
	if mark == w.marks {
		lo = 0
	}
	for i, u := range w.history {
		switch {
		case u.mark == mark && mark > 0:
			lo = i + 1
		case u.mark == mark+1:
			return lo, i
		}
	}
	return lo, len(w.history)
}

func (w *worker) mismatch(wrong [][]string, first int, mark int64) error {
	var sb strings.Builder
	fmt.Fprintf(&sb, "mark %d: no prefix of the history gives what is there", mark)
	for i, diff := range wrong {
		fmt.Fprintf(&sb, "\nafter %d of %d units:\n  %s", first+i, len(w.history),
			strings.Join(diff[:min(len(diff), 10)], "\n  "))
	}
	for i := max(0, first-3); i < min(first+len(wrong), len(w.history)); i++ {
		fmt.Fprintf(&sb, "\nunit %d: %s %.300q", i, w.history[i].wrap, w.history[i].cmds)
	}
	return fmt.Errorf("%s", sb.String())
}

// rebase begins a new history. What has expired is removed, and deadlines are known exactly.
func (w *worker) rebase(s, have state, mark int64) {
	for key, v := range s {
		if h := have[key]; h == nil {
			delete(s, key)
		} else {
			v.expiry, v.tat = h.expiry, h.tat
		}
	}
	w.base, w.marks, w.history = s, mark, nil
}

// read fetches all keys that begin with prefix.
func read(c *client.Client, db int, prefix string, has features) (state, error) {
	if _, err := do(c, "SELECT", db); err != nil {
		return nil, err
	}
	out := state{}
	if has.functions {
		if err := readLibraries(c, prefix, out); err != nil {
			return nil, err
		}
	}
	for cursor := "0"; ; {
		v, err := do(c, "SCAN", cursor, "MATCH", prefix+"*", "COUNT", 1000)
		if err != nil {
			return nil, err
		}
		for _, key := range v.Elems[1].Strings() {
			val, err := readKey(c, key, has)
			if err != nil {
				return nil, err
			}
			if val != nil {
				out[key] = val
			}
		}
		if cursor = v.Elems[0].Text(); cursor == "0" {
			return out, nil
		}
	}
}

// readKey fetches one key. It returns nil if the key expired while it was read.
func readKey(c *client.Client, key string, has features) (*value, error) {
	kind, err := do(c, "TYPE", key)
	if err != nil {
		return nil, err
	}
	at, err := do(c, "PEXPIRETIME", key)
	if err != nil {
		return nil, err
	}
	v := state{}.get(key, kind.Text())
	if at.Int > 0 {
		v.expiry = expiry{at.Int, at.Int}
	}
	var r client.Value
	switch v.kind {
	case "none":
		return nil, nil
	case "string":
		return readString(c, key, v)
	case "list":
		r, err = do(c, "LRANGE", key, 0, -1)
		v.list = r.Strings()
	case "set":
		r, err = do(c, "SMEMBERS", key)
		for _, m := range r.Strings() {
			v.set[m] = true
		}
	case bloom:
		names := allElements()
		r, err = do(c, append([]any{"BF.MEXISTS", key}, names...)...)
		for i, e := range r.Elems {
			if e.Int == 1 {
				v.set[names[i].(string)] = true
			}
		}
	case "stream":
		err = readStream(c, key, v)
	case "zset":
		r, err = do(c, "ZRANGE", key, 0, -1, "WITHSCORES")
		for i := 0; i+1 < len(r.Elems); i += 2 {
			v.zset[r.Elems[i].Text()], _ = strconv.ParseFloat(r.Elems[i+1].Text(), 64)
		}
	case "hash":
		r, err = do(c, "HGETALL", key)
		for i := 0; i+1 < len(r.Elems); i += 2 {
			v.hash[r.Elems[i].Text()] = field{text: r.Elems[i+1].Text()}
		}
		if err == nil && has.fieldTTL && len(v.hash) > 0 {
			err = readDeadlines(c, key, v)
		}
	default:
		if _, known := sketchKinds[v.kind]; !known {
			return nil, fmt.Errorf("%s is a %s", key, v.kind)
		}
		err = readDigest(c, key, v)
	}
	if v.size() == 0 {
		return nil, err
	}
	return v, err
}

func readString(c *client.Client, key string, v *value) (*value, error) {
	r, err := do(c, "GET", key)
	if err != nil || r.IsNull() {
		return nil, err
	}
	if v.str = r.Text(); isBucket(key) {
		err = readBucket(v)
	}
	return v, err
}

func readDigest(c *client.Client, key string, v *value) error {
	r, err := do(c, "DEBUG", "DIGEST-VALUE", key)
	if err != nil || len(r.Elems) != 1 {
		return fmt.Errorf("DEBUG DIGEST-VALUE: %v, %w", r, err)
	}
	if v.str = r.Elems[0].Text(); v.expiry != (expiry{}) {
		v.str, err = withoutDeadline(v.str)
	}
	return err
}

func readDeadlines(c *client.Client, key string, v *value) error {
	args := []any{"HPEXPIRETIME", key, "FIELDS", len(v.hash)}
	var names []string
	for name := range v.hash {
		names, args = append(names, name), append(args, name)
	}
	r, err := do(c, args...)
	if err != nil || len(r.Elems) != len(names) {
		return err // the key has expired, as its deadline says
	}
	for i, name := range names {
		switch at := r.Elems[i].Int; {
		case at > 0:
			v.hash[name] = field{text: v.hash[name].text, deadline: at}
		case at == -2:
			delete(v.hash, name) // it has expired meanwhile
		}
	}
	return nil
}
