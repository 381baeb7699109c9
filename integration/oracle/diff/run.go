package diff

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// maxBatch is the number of commands in flight on one connection.
const maxBatch = 100

// Failure is one difference between the servers.
type Failure struct {
	At    int    // index in the stream, of the command that differs or after which the state did
	Class string // what differs, in few words: equal classes count as the same finding
	A, B  string // both sides, readable
}

func (f *Failure) String() string {
	return fmt.Sprintf("%s\n  theirs: %s\n  tested: %s", f.Class, f.A, f.B)
}

// Runner executes streams on both servers. It is not safe for concurrent use.
type Runner struct {
	Ref, Tested *Server
	Known       *Known
	DBs         int
	StateEvery  int // commands between state comparisons; 0: only at the end of a stream

	conns     map[int]*[2]*Conn
	admin     [2]*Conn
	steps     stepState
	sorted    bool // the stream has a SORT
	filed     bool // the stream takes the data through files
	users     bool // the stream changes users
	libraries bool // the stream loads functions
	// commands of the reference server: whether the tested one has them too
	Common     map[string]bool
	conf       []confParam
	out        []byte
	ends       [2][]int
	logging    bool // the append-only files are on
	StateReads int  // keys whose state was compared
	Errors     int  // error replies: a stream of nothing but errors tests nothing
}

// NewRunner returns a runner for two live servers.
func NewRunner(ref, tested *Server, known *Known, dbs int) *Runner {
	return &Runner{Ref: ref, Tested: tested, Known: known, DBs: dbs, StateEvery: 1000,
		conns: map[int]*[2]*Conn{}, conf: confParams()}
}

func (r *Runner) sides() [2]*Server { return [2]*Server{r.Ref, r.Tested} }

// Close drops all connections.
func (r *Runner) Close() {
	for _, p := range r.conns {
		p[0].Close()
		p[1].Close()
	}
	clear(r.conns)
	r.steps = newStepState()
	r.admin[0].Close()
	r.admin[1].Close()
	r.admin = [2]*Conn{}
}

// reset brings both servers to the state in which every stream starts: alive, no connections of
// earlier streams, no data, the default configuration.
func (r *Runner) reset() error {
	r.Close()
	r.logging = false
	for i, s := range r.sides() {
		if err := s.Revive(); err != nil {
			return err
		}
		c, err := Dial(s.Addr)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		r.admin[i] = c
		if err := ownUser(c); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		cmds := []Cmd{{Args: split("FLUSHALL")}, {Args: split("CONFIG SET appendonly no")},
			{Args: split("SCRIPT FLUSH")}, {Args: split("FUNCTION FLUSH")}}
		for _, p := range r.conf {
			cmds = append(cmds,
				Cmd{Args: [][]byte{[]byte("CONFIG"), []byte("SET"), []byte(p.name), []byte(p.def)}})
		}
		replies, err := c.DoAll(cmds)
		if err != nil {
			return fmt.Errorf("%s: reset: %w", s.Name, err)
		}
		if replies[0].IsErr() {
			return fmt.Errorf("%s: FLUSHALL: %v", s.Name, replies[0])
		}
	}
	return nil
}

// Exec runs a stream from the reset state. It returns the first difference and the number of
// commands that ran. The error is about the tester or the reference server; whatever the tested
// server does wrong is a Failure.
func (r *Runner) Exec(stream []Cmd) (*Failure, int, error) {
	stream = r.Known.Reference.adapt(stream)
	if err := r.reset(); err != nil {
		return nil, 0, err
	}
	if err := r.resetUsers(stream); err != nil {
		return nil, 0, err
	}
	if slices.ContainsFunc(stream, func(c Cmd) bool { return c.Tell }) {
		// While some client tracks, Godwit remembers what clients have read, as redis always does.
		if f, err := r.bothOK(0, "CLIENT TRACKING ON BCAST PREFIX oracle:"); f != nil ||
			err != nil {
			return f, 0, err
		}
	}
	r.libraries = usesLibraries(stream)
	r.sorted = slices.ContainsFunc(stream, Cmd.sorts)
	r.filed = slices.ContainsFunc(stream, func(c Cmd) bool { return c.Disk != "" || c.swaps() })
	nextState := r.StateEvery
	for at := 0; at < len(stream); {
		n := batchLen(stream[at:])
		var f *Failure
		var err error
		switch {
		case stream[at].Step:
			f, err = r.step(stream[at], at)
		case stream[at].Tell:
			f, err = r.tell(stream, at)
		case stream[at].Disk != "":
			f, err = r.disk(stream[at].Disk, at)
		case stream[at].Sleep > 0:
			time.Sleep(stream[at].Sleep)
		case stream[at].Raw:
			f, err = r.raw(stream[at], at)
		default:
			f, err = r.batch(stream, at, n)
		}
		if err != nil {
			return nil, at, err
		}
		if f != nil {
			return f, at + n, nil
		}
		at += n
		// until its DEL, the servers hold different members
		if nextState > 0 && at >= nextState && at < len(stream) && !poppedAtRandom(stream[at-1]) {
			nextState = at + r.StateEvery
			if f, err := r.state(at - 1); f != nil || err != nil {
				return f, at, err
			}
		}
	}
	f, err := r.state(len(stream) - 1)
	return f, len(stream), err
}

// batchLen returns how many commands from the start of the stream go out together.
func batchLen(stream []Cmd) int {
	if stream[0].alone() {
		return 1
	}
	n := 1
	for n < len(stream) && n < maxBatch && stream[n].Client == stream[0].Client &&
		!stream[n].alone() {
		n++
	}
	return n
}

// alone reports whether the command is never pipelined with others.
func (c Cmd) alone() bool {
	return c.Raw || c.Step || c.Tell || c.swaps() || c.Sleep > 0 || c.Disk != "" ||
		authenticates(c)
}

// pair returns the connections of a client number, opening them when needed.
func (r *Runner) pair(client int) (*[2]*Conn, error) {
	if p := r.conns[client]; p != nil {
		return p, nil
	}
	p := &[2]*Conn{}
	for i, s := range r.sides() {
		c, err := Dial(s.Addr)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		p[i] = c
	}
	r.conns[client] = p
	return p, nil
}

// batch pipelines stream[at:at+n] to both servers and compares the replies.
func (r *Runner) batch(stream []Cmd, at, n int) (*Failure, error) {
	p, err := r.pair(stream[at].Client)
	if err != nil {
		return r.connFailure(at, err)
	}
	if err := r.sendBatch(p, stream[at:at+n]); err != nil {
		return nil, err
	}
	var raw [2][]byte
	var errs [2]error
	for i := range p {
		raw[i], r.ends[i], errs[i] = p[i].Batch(n, r.ends[i])
	}
	if errs[0] != nil {
		i := at + min(len(r.ends[0]), n-1)
		return nil, fmt.Errorf("redis: %w, to command %d: %v\nbefore it: %v", errs[0], i, stream[i],
			lastOf(stream[:i], stream[i].Client))
	}
	start := 0
	for _, end := range r.ends[0] {
		if raw[0][start] == '-' {
			r.Errors++
		}
		start = end
	}
	if errs[1] != nil || !bytes.Equal(raw[0], raw[1]) {
		if f := r.compare(stream, at, n, raw, errs[1]); f != nil {
			return f, r.refDied(len(r.ends[0]) < n)
		}
	}
	if len(r.ends[0]) < n || len(r.ends[1]) < n {
		p[0].Close()
		p[1].Close()
		delete(r.conns, stream[at].Client)
		if err, dead := r.Ref.Dead(); dead {
			return nil, err
		}
		if err, dead := r.Tested.Dead(); dead {
			return &Failure{At: at + min(len(r.ends[1]), n-1), Class: "server died", A: "alive",
				B: err.Error() + "\n" + r.Tested.LogTail()}, nil
		}
	}
	return nil, nil
}

// crashReport bounds how long a server's process outlives its connections, to describe a crash.
const crashReport = 3 * time.Second

// refDied returns an error if the reference server has ended, or ends soon after it closed a
// connection.
func (r *Runner) refDied(closed bool) error {
	if !closed {
		return nil
	}
	if err, dead := r.refEnds(); dead {
		return fmt.Errorf("%w\n%s", err, r.Ref.LogTail())
	}
	return nil
}

// refEnds waits for the reference server's end, at most crashReport.
func (r *Runner) refEnds() (err error, dead bool) {
	err, dead = r.Ref.Dead()
	for begin := time.Now(); !dead && time.Since(begin) < crashReport; {
		time.Sleep(10 * time.Millisecond)
		err, dead = r.Ref.Dead()
	}
	return err, dead
}

// sendBatch pipelines commands to both servers.
func (r *Runner) sendBatch(p *[2]*Conn, cmds []Cmd) error {
	r.out = r.out[:0]
	for _, c := range cmds {
		r.out = c.Append(r.out)
	}
	out := [2][]byte{r.out, r.out}
	if cmds[0].swaps() {
		each, err := r.swapped(cmds[0])
		if err != nil {
			return err
		}
		out = [2][]byte{each[0].Append(nil), each[1].Append(nil)}
	}
	for i := range p {
		if err := p[i].Send(out[i]); err != nil {
			return fmt.Errorf("%s: write: %w", r.sides()[i].Name, err)
		}
	}
	return nil
}

// connFailure turns a connection error into a Failure if the tested server refuses connections,
// else into an error of the run.
func (r *Runner) connFailure(at int, err error) (*Failure, error) {
	if c, e := Dial(r.Ref.Addr); e == nil {
		c.Close()
		return &Failure{At: at, Class: "connection refused", A: "accepts",
			B: err.Error() + "\n" + r.Tested.LogTail()}, nil
	}
	return nil, err
}

var errTwoSided = errors.New("reference server")

// both runs the same commands on both admin connections. If only the tested server fails, that is a
// Failure.
func (r *Runner) both(at int, cmds []Cmd) (a, b []Reply, f *Failure, err error) {
	if a, err = r.admin[0].DoAll(cmds); err != nil {
		return nil, nil, nil, fmt.Errorf("%w: %v", errTwoSided, err)
	}
	if b, err = r.admin[1].DoAll(cmds); err != nil {
		text := err.Error()
		if errors.Is(err, io.EOF) {
			text = "connection closed"
		}
		if e, dead := r.Tested.Dead(); dead {
			text = e.Error() + "\n" + r.Tested.LogTail()
		}
		return nil, nil, &Failure{At: at, Class: "state cannot be read", A: "readable",
			B: text}, nil
	}
	return a, b, nil, nil
}

// lastOf returns the last commands of a client, to explain where a run broke.
func lastOf(stream []Cmd, client int) []Cmd {
	var out []Cmd
	for i := len(stream) - 1; i >= 0 && len(out) < 10; i-- {
		if stream[i].Client == client && !stream[i].Raw {
			out = append(out, stream[i])
		}
	}
	slices.Reverse(out)
	return out
}
