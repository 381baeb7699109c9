package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"godwit/internal/resp/client"
)

// event is something that happened, relative to the end of the master.
type event struct {
	at   time.Duration
	what string
}

// result is what a failover has cost.
type result struct {
	events        []event
	acked, failed int
	lost          []string
	until         time.Duration // from the end of the master to the first write that is accepted
}

// sentinelSays is how entries of Sentinels begin.
var sentinelSays = regexp.MustCompile(`^sentinel \d+: `)

// told are the events of Sentinels that the timeline shows.
var told = []string{"+sdown", "+odown", "+elected-leader", "+selected-slave", "+promoted-slave",
	"+switch-master", "+failover-end", "+convert-to-slave", "-sdown", "+slave-reconf-done"}

// diary collects what the Sentinels say.
type diary struct {
	mu      sync.Mutex
	entries []entry
	clients []*client.Client
}

type entry struct {
	at   time.Time
	what string
}

// listen subscribes to all events of all Sentinels.
func (g *group) listen() (*diary, error) {
	d := &diary{}
	for i, s := range g.sentinels.Servers {
		c, err := s.Dial()
		if err != nil {
			return d, err
		}
		d.clients = append(d.clients, c)
		if _, err := c.Do("PSUBSCRIBE", "*"); err != nil {
			return d, err
		}
		c.Timeout = 0
		go d.read(c, fmt.Sprintf("sentinel %d", i+1))
	}
	return d, nil
}

func (d *diary) read(c *client.Client, who string) {
	for {
		v, err := c.Receive()
		if err != nil {
			return // closed
		}
		if len(v.Elems) != 4 || !slices.Contains(told, v.Elems[2].Text()) {
			continue
		}
		d.add(fmt.Sprintf("%s: %s %s", who, v.Elems[2].Text(), v.Elems[3].Text()))
	}
}

func (d *diary) add(what string) { d.addAt(time.Now(), what) }

func (d *diary) addAt(t time.Time, what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, entry{t, what})
}

// last returns when the last entry was made.
func (d *diary) last() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.entries[len(d.entries)-1].at
}

func (d *diary) close() {
	for _, c := range d.clients {
		c.Close()
	}
}

// since returns the entries in their order, relative to a moment. Of what all Sentinels say of the
// same thing, it has the first.
func (d *diary) since(t time.Time) (events []event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	slices.SortStableFunc(d.entries, func(a, b entry) int { return a.at.Compare(b.at) })
	seen := map[string]bool{}
	for _, e := range d.entries {
		same := sentinelSays.ReplaceAllString(e.what, "")
		if !seen[same] {
			events = append(events, event{e.at.Sub(t), e.what})
		}
		seen[same] = true
	}
	return events
}

// run lets the writers write, ends the master, waits until they write again, and brings the old
// master back as a replica. In the end all servers must have the same data.
func (g *group) run(ctx context.Context) (r result, err error) {
	d, err := g.listen()
	defer d.close()
	if err != nil {
		return r, err
	}
	w := g.startWriters(ctx)
	defer w.end()
	if err := w.waitAccepted(ctx, 1000); err != nil {
		return r, err
	}
	d.add("the master is " + map[bool]string{true: "stopped", false: "killed"}[g.freeze])
	moment := d.last()
	defer func() {
		if err != nil {
			r.events = d.since(moment)
		}
	}()
	if err := g.end(); err != nil {
		return r, err
	}
	gone := time.Now()
	if err := g.promoted(ctx); err != nil {
		return r, err
	}
	if err := w.waitAccepted(ctx, 1000); err != nil {
		return r, err
	}
	if err := g.comeBack(); err != nil {
		return r, err
	}
	d.add("the old master is back")
	if _, _, err := g.settled(ctx); err != nil {
		return r, err
	}
	d.add("the old master is a replica")
	w.end()
	master, rest, err := g.settled(ctx)
	if err != nil {
		return r, err
	}
	if err := master.WaitSame(rest...); err != nil {
		return r, err
	}
	d.add("all servers have the same data")
	r.acked, r.failed = w.count()
	if r.lost, err = w.lost(master); err != nil {
		return r, err
	}
	r.judge(w, d, moment, gone)
	return r, nil
}

// judge puts the timeline together. Between the two times the master was ended.
func (r *result) judge(w *writers, d *diary, moment, gone time.Time) {
	if a, ok := w.firstAfter(moment, false); ok {
		d.addAt(a.got, "first write that fails: "+a.text)
	}
	if a, ok := w.firstAfter(gone, true); ok {
		d.addAt(a.got, "FIRST WRITE THAT IS ACCEPTED")
		r.until = a.got.Sub(moment)
	}
	r.events = d.since(moment)
}
