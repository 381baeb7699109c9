// Package movein moves a cluster of Redis or Valkey into an empty cluster of Godwit while clients
// write, shard by shard over PSYNC. It is a tool that talks to both as a client does:
//
//	check    source: every slot has an owner, none is being moved. Target: enough empty masters
//	follow   a master of the target follows each master of the source (CLUSTER FOLLOW)
//	watch    until all are in step. The source may fail over meanwhile
//	hold     writers of the source wait, then its nodes refuse writes
//	compare  places in the streams, numbers of keys in each slot, some values
//	take     the target's masters stop following and get the slots
//
// Until slots are taken nobody can write to the target, and whatever fails is undone: the target is
// empty again, with the slots it had, and the source takes writes. What a run leaves that is killed
// is for the next one (cancel.go). At no time do both take writes for a slot: a source's node that
// refuses writes is asked for its place in the stream afterwards, and the target must have all that
// came before.
package movein

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Side is how to reach one of the clusters.
type Side struct {
	Addr           string // host:port of any node
	User, Password string // for all nodes; without a password there is no AUTH
	TLS            bool
}

// Options say what to move where.
type Options struct {
	From, To Side
	// Dial connects to a node.
	Dial func(addr string, tls bool) (net.Conn, error)
	// Cutover takes the slots over as soon as the target is in step. Without it the target follows
	// the source until the context ends, and afterwards.
	Cutover bool
	// Hold is the longest time that writers of the source may be kept waiting. After that the move
	// is undone.
	Hold time.Duration
	// Patience is how long something may be wrong, such as a master that is gone, before the move
	// is undone.
	Patience time.Duration
	// Sample is the number of keys of each shard whose values are compared.
	Sample int
	// Force has Cancel undo what a run has left that was killed while it handed the slots over. It
	// must not be at work any more.
	Force bool
	// Out gets a line for each step.
	Out io.Writer
}

// ErrLeft reports that the context has ended while the target follows the source. It goes on with
// that; another run takes it up.
var ErrLeft = errors.New("the target goes on following; run it again with --cutover or --cancel")

// poll is the time between two looks at both clusters.
const poll = 250 * time.Millisecond

// mover is one run.
type mover struct {
	o      Options
	from   *cluster
	to     *cluster
	pairs  []*pair
	spares []*spare
	fences []*fence
	holds  bool // writers of the source may be waiting
	began  time.Time
	told   time.Time // when the last line about the progress was written
	dbs    []int     // databases that the source has keys in
}

func newMover(o Options) *mover {
	m := &mover{o: o, began: time.Now()}
	m.from = newCluster("source", o.From, o.Dial)
	m.to = newCluster("target", o.To, o.Dial)
	return m
}

// say writes a line.
func (m *mover) say(format string, args ...any) {
	fmt.Fprintf(m.o.Out, "%7.1fs  %s\n", time.Since(m.began).Seconds(),
		fmt.Sprintf(format, args...))
}

// Run moves the source into the target. An error other than ErrLeft says why that has failed, and
// what could not be undone.
func Run(ctx context.Context, o Options) error {
	m := newMover(o)
	defer m.from.close()
	defer m.to.close()
	if err := m.check(); err != nil {
		return m.withFences(err) // nothing has been changed
	}
	err := m.follow()
	if err == nil {
		err = m.watch(ctx)
	}
	if err == nil {
		err = m.cutOver()
	}
	switch {
	case err == nil, errors.Is(err, ErrLeft):
		return err
	case errors.Is(err, errTaken):
		m.say("%s", err)
		return nil
	}
	m.say("failed: %s", err)
	return errors.Join(err, m.undo())
}
