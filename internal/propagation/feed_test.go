package propagation

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp"
	"godwit/internal/testseed"
)

// end is a target that takes what is in its buffer away now and then, as the log does.
type end struct {
	buf   Buffer
	taken []byte // whole stream but what is in buf
	units int
	off   bool // it wants nothing
}

func (e *end) BeginUnit(int) *Buffer {
	if e.off {
		return nil
	}
	if e.units++; e.units%5 == 0 {
		e.EndBatch()
	}
	e.buf.B = append(e.buf.B, "#\r\n"...) // an annotation of its own
	return &e.buf
}

func (e *end) EndBatch() {
	e.taken = append(e.taken, e.buf.B...)
	e.buf.B = e.buf.B[:0]
}

// model is a Feed, and what its targets have to get: a line for each command, "0 SET a 1", and for
// MULTI, EXEC and what was relayed.
type model struct {
	t     *testing.T
	f     Feed
	ends  [numTargets]*end
	want  [numTargets][]string
	open  []sent
	depth int
	drop  bool
}

type sent struct {
	to   Targets
	line string
}

func newModelFeed(t *testing.T) *model {
	m := &model{t: t}
	for i := range m.ends {
		m.ends[i] = &end{buf: Buffer{DB: NoDB}}
		m.f.Attach(1<<i, m.ends[i])
	}
	return m
}

// on reports whether target i gets anything.
func (m *model) on(i int) bool { return m.f.attached&(1<<i) != 0 && !m.ends[i].off }

func (m *model) send(to Targets, db int, cmd string) {
	m.f.Send(to, db, bytes.Fields([]byte(cmd)))
	for i := range m.ends { // a target that is not there when the command comes does not get it
		if m.f.attached&(1<<i) == 0 {
			to &^= 1 << i
		}
	}
	m.open = append(m.open, sent{to, strconv.Itoa(db) + " " + cmd})
	if m.depth == 0 {
		m.flush()
	}
}

func (m *model) flush() {
	for i := range m.ends {
		var lines []string
		for _, s := range m.open {
			if s.to&(1<<i) != 0 {
				lines = append(lines, s.line)
			}
		}
		if len(lines) > 1 {
			lines = append([]string{"MULTI"}, append(lines, "EXEC")...)
		}
		if m.on(i) && !m.drop {
			m.want[i] = append(m.want[i], lines...)
		}
	}
	m.open = nil
}

// stream returns what target i has got, as lines. A SELECT that says what is known fails the test.
func (m *model) stream(i int) (lines []string) {
	text := append(bytes.Clone(m.ends[i].taken), m.ends[i].buf.B...)
	text = bytes.ReplaceAll(text, []byte("#\r\n"), nil)
	if Targets(1<<i) == Replicas {
		require.EqualValues(m.t, len(text), m.f.Offset())
	}
	var p resp.Parser
	db := NoDB
	for len(text) > 0 {
		argv, n, err := p.Next(text, &resp.Limits{MaxBulk: 1 << 30, Authenticated: true})
		require.NoError(m.t, err)
		require.NotZero(m.t, n)
		text = text[n:]
		line := string(bytes.Join(argv, []byte(" ")))
		switch word, rest, _ := strings.Cut(line, " "); word {
		case "SELECT":
			require.NotEqual(m.t, strconv.Itoa(db), rest, "a SELECT too many: %q", lines)
			db, err = strconv.Atoi(rest)
			require.NoError(m.t, err)
		case "MULTI", "EXEC":
			lines = append(lines, line)
		case "RELAYED":
			lines = append(lines, line)
			db = NoDB // this side does not look into what it relays
		default:
			lines = append(lines, strconv.Itoa(db)+" "+line)
		}
	}
	return lines
}

// TestFeed sends units of all shapes to two targets that come and go, and reads back what they got.
func TestFeed(t *testing.T) {
	rnd := testseed.Rand(t)
	for range 200 {
		m := newModelFeed(t)
		for n := range 60 {
			m.step(rnd, n)
		}
		for ; m.depth > 0; m.depth-- {
			m.f.End()
		}
		m.flush()
		for i := range m.ends {
			require.Equal(t, m.want[i], m.stream(i), "target %d", i)
		}
	}
}

func (m *model) step(rnd *rand.Rand, n int) {
	i := rnd.IntN(numTargets)
	switch rnd.IntN(16) {
	default:
		m.send(Targets(rnd.IntN(int(All)+1)), rnd.IntN(3),
			fmt.Sprintf("SET k%d %s", rnd.IntN(5), strings.Repeat("v", 1+rnd.IntN(120))))
	case 0, 1, 2:
		m.f.Begin()
		m.depth++
	case 3, 4, 5:
		if m.depth == 0 {
			return
		}
		m.depth--
		sent := m.f.End()
		if m.depth == 0 {
			require.Equal(m.t, m.collected() && !m.drop, sent)
			m.flush()
			m.drop = false
		}
	case 6:
		m.f.Flush()
		m.flush()
	case 7:
		m.f.Drop()
		m.drop = m.depth > 0
	case 8:
		switch {
		case m.f.attached&(1<<i) != 0:
			m.f.Detach(1 << i)
		case n%2 == 0:
			m.f.Attach(1<<i, m.ends[i])
			for j := range m.open {
				m.open[j].to &^= 1 << i
			}
		default:
			m.f.Reattach(1 << i)
		}
	case 9:
		m.ends[i].off = !m.ends[i].off
	case 10:
		text := resp.AppendCommand(nil, "RELAYED", strconv.Itoa(n))
		m.f.Relay(text)
		if m.on(1) {
			m.want[1] = append(m.want[1], fmt.Sprintf("RELAYED %d", n))
		}
	case 11:
		m.f.EndBatch()
	}
	require.Equal(m.t, m.depth > 0, m.f.InUnit())
}

// collected reports whether the open unit has a command for anybody who is there.
func (m *model) collected() bool {
	for _, s := range m.open {
		if s.to&m.f.Attached() != 0 {
			return true
		}
	}
	return false
}

// TestOffset checks that what the log alone gets is not counted.
func TestOffset(t *testing.T) {
	m := newModelFeed(t)
	set := bytes.Fields([]byte("SET a 1"))
	m.f.Send(Log, 0, set)
	require.Zero(t, m.f.Offset())
	m.f.Send(All, 0, set)
	const selected, command = len("*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n"),
		len("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n")
	require.EqualValues(t, selected+command, m.f.Offset())
	m.f.Relay([]byte("*1\r\n$4\r\nPING\r\n"))
	require.EqualValues(t, selected+command+14, m.f.Offset())
}

// TestSent checks that each unit of the replicas is told of once, when its bytes count.
func TestSent(t *testing.T) {
	m := newModelFeed(t)
	var at []int64
	m.f.Sent = func() { at = append(at, m.f.Offset()) }
	set := bytes.Fields([]byte("SET a 1"))
	m.f.Send(Log, 0, set)
	m.f.Begin()
	m.f.Send(Log, 0, set)
	m.f.End()
	require.Empty(t, at)
	var want []int64
	sent := func() {
		want = append(want, m.f.Offset())
		require.Equal(t, want, at)
	}
	m.f.Send(All, 0, set)
	sent()
	m.f.Begin()
	m.f.Send(All, 0, set)
	m.f.Send(Replicas, 1, set)
	m.f.Flush()
	sent()
	m.f.Send(Replicas, 0, set)
	m.f.End()
	sent()
	m.f.Relay([]byte("*1\r\n$4\r\nPING\r\n"))
	sent()
}

// TestUnitsKeepNothing sends a unit so large that its memory is not kept for the next one, and one
// after it.
func TestUnitsKeepNothing(t *testing.T) {
	m := newModelFeed(t)
	argv := [][]byte{[]byte("SET"), []byte("key"), bytes.Repeat([]byte("v"), 100)}
	for _, n := range []int{keepCommands + 1, 2} {
		m.f.Begin()
		for range n {
			m.f.Send(All, 0, argv)
		}
		m.f.End()
		require.LessOrEqual(t, cap(m.f.unit.cmds), keepCommands)
		require.LessOrEqual(t, cap(m.f.unit.text), keepBytes)
	}
	require.Len(t, m.stream(0), keepCommands+1+2+2*2)
}

func TestSendAllocatesNothing(t *testing.T) {
	m := newModelFeed(t)
	argv := [][]byte{[]byte("SET"), []byte("key"), bytes.Repeat([]byte("v"), 100)}
	for i := range m.ends {
		m.ends[i].taken = make([]byte, 0, 4<<20)
		m.ends[i].buf.B = make([]byte, 0, 1<<20)
	}
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		m.f.Send(All, 1, argv)
		m.f.Begin()
		m.f.Send(Log, 2, argv)
		m.f.Send(All, 1, argv)
		m.f.End()
	}))
}
