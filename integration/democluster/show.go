package main

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"godwit/internal/slot"
	"godwit/internal/testserver"
)

// show is a cluster with what happens to it.
type show struct {
	*testserver.Cluster
	settings
	begin   time.Time
	writers *writers
	tags    []string // a hash tag of each master's
}

// say prints a line of the timeline.
func (s *show) say(format string, args ...any) { s.sayAt(time.Now(), format, args...) }

func (s *show) sayAt(t time.Time, format string, args ...any) {
	fmt.Printf("t%+7d ms  %s\n", t.Sub(s.begin).Milliseconds(), fmt.Sprintf(format, args...))
}

// enough is how many more writes show that all is well.
const enough = 500

// run is the whole show. It returns how many acknowledged writes are lost.
func (s *show) run(ctx context.Context) (lost int, err error) {
	s.say("all nodes are of one mind: cluster_state:ok")
	for i := range s.Options.Masters {
		s.tags = append(s.tags, tagWithin(i, s.Options.Masters))
	}
	s.writers = startWriters(ctx, s.Cluster, s.tags)
	defer s.writers.end()
	for _, part := range []func(ctx context.Context) error{s.reshard, s.kill, s.cut} {
		fmt.Println()
		if err := s.writers.more(ctx, enough); err != nil {
			return 0, err
		}
		if err := part(ctx); err != nil {
			return 0, err
		}
		if err := s.WaitReady(); err != nil {
			return 0, err
		}
		s.say("all nodes are of one mind again")
	}
	s.writers.end()
	fmt.Println()
	acked, failed := s.writers.count()
	if lost, err = s.writers.lost(ctx); err != nil {
		return 0, err
	}
	if err := s.same(); err != nil {
		return 0, err
	}
	s.say("all replicas have the same data as their masters")
	s.say("%d writes acknowledged, %d refused or unanswered, %d acknowledged ones lost", acked,
		failed, lost)
	return lost, nil
}

// same compares each replica with its master.
func (s *show) same() error {
	view, err := s.Nodes[0].View()
	if err != nil {
		return err
	}
	for _, l := range view {
		if l.Has("slave") {
			if err := s.Node(l.Master).WaitSame(s.Node(l.ID).Server); err != nil {
				return err
			}
		}
	}
	return nil
}

// tagWithin returns a hash tag in the i-th of n equal shares of the slots, behind its first tenth.
func tagWithin(i, n int) string {
	for k := 0; ; k++ {
		tag := fmt.Sprint("tag", k)
		if at := slot.Of([]byte(tag)) * n; at >= i*slot.Count+slot.Count/10 &&
			at < (i+1)*slot.Count {
			return tag
		}
	}
}

// moving is how many slots move.
const moving = 200

// reshard has redis-cli move slots from the first master to the second.
func (s *show) reshard(ctx context.Context) error {
	_, before := s.writers.count()
	s.say("redis-cli --cluster reshard moves %d slots from master 1 to master 2", moving)
	cmd := exec.CommandContext(ctx, s.cli, "--cluster", "reshard", s.Nodes[0].Addr,
		"--cluster-from", s.Master(0).ID, "--cluster-to", s.Master(1).ID,
		"--cluster-slots", fmt.Sprint(moving), "--cluster-yes")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w:\n%s", err, out)
	}
	_, after := s.writers.count()
	s.say("they have moved; %d writes failed meanwhile", after-before)
	return nil
}

// kill kills a master and brings it back.
func (s *show) kill(ctx context.Context) error {
	old, next := s.Master(1), s.Replica(1)
	s.say("kill -9: master 2, %s", old.Addr)
	moment := time.Now()
	old.Kill()
	if err := s.outage(ctx, 1, moment); err != nil {
		return err
	}
	if err := s.WaitOwner(slot.Of([]byte(s.tags[1])), next, s.others(old)...); err != nil {
		return err
	}
	s.say("all others know its replica as the master")
	if err := s.writers.more(ctx, enough); err != nil {
		return err
	}
	s.say("master 2 is started again")
	if err := old.Revive(); err != nil {
		return err
	}
	if err := s.WaitReady(); err != nil {
		return err
	}
	s.say("it is a replica of the new master")
	return nil
}

// others returns all nodes but one.
func (s *show) others(n *testserver.Node) (list []*testserver.Node) {
	for _, o := range s.Nodes {
		if o != n {
			list = append(list, o)
		}
	}
	return list
}

// outage waits until the slots of the i-th master are written again, and says since when they had
// not been.
func (s *show) outage(ctx context.Context, i int, moment time.Time) error {
	a, err := s.writers.next(ctx, s.tags[i], moment)
	if err != nil {
		return err
	}
	if bad, ok := s.writers.find(s.tags[i], moment, false); ok {
		s.sayAt(bad.got, "the first write to its slots that fails: %s", bad.err)
	}
	s.sayAt(a.got, "FIRST WRITE THAT IS ACCEPTED: %.2f node timeouts after",
		float64(a.got.Sub(moment))/float64(s.timeout))
	return nil
}

// cut cuts a master off from all other nodes, not from its clients. Some of these know no other
// node and go on writing to it.
func (s *show) cut(ctx context.Context) error {
	old, next := s.Master(2), s.Replica(2)
	loyal, eager := startDirect(old, s.tags[2]), startDirect(next, s.tags[2])
	defer loyal.end()
	defer eager.end()
	s.say("all links between master 3, %s, and the other nodes are cut", old.Addr)
	moment := time.Now()
	s.Cut(old)
	if err := eager.waitAccepted(ctx); err != nil {
		return err
	}
	if err := s.WaitState("fail", old); err != nil {
		return err
	}
	loyal.end()
	first, last := eager.first, loyal.last
	s.sayAt(last, "the last write that master 3 accepted")
	s.sayAt(first, "FIRST WRITE THAT ITS REPLICA ACCEPTS: %.2f node timeouts after",
		float64(first.Sub(moment))/float64(s.timeout))
	if last.After(first) {
		s.say("for %v BOTH ACCEPTED WRITES", last.Sub(first).Round(time.Millisecond))
	}
	s.say("master 3 says: %s", loyal.refusal)
	s.Heal()
	s.say("the links are whole again")
	if err := s.WaitReady(); err != nil {
		return err
	}
	lost, err := s.writers.missing(ctx, loyal.acked)
	s.say("of %d writes that master 3 acknowledged to such clients %d are lost", len(loyal.acked),
		lost)
	return err
}
