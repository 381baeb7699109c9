package command

import (
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/engine"
)

// targets is a Dialer whose connections follow a script. Each connection reads what MIGRATE sends
// and replies with its next reply. After the last reply it closes. It does not reply at all where
// the reply is empty.
type targets struct {
	engine.Dialer
	t       *testing.T
	scripts [][]string // For each connection, the reply to each batch.
	dials   []engine.DialOptions
	got     chan string
}

func (d *targets) Dial(o engine.DialOptions) (net.Conn, error) {
	if d.dials = append(d.dials, o); len(d.dials) > len(d.scripts) {
		return nil, syscall.ECONNREFUSED
	}
	script := d.scripts[len(d.dials)-1]
	ours, theirs := net.Pipe()
	d.t.Cleanup(func() { ours.Close(); theirs.Close() })
	go func() {
		for _, reply := range script {
			buf := make([]byte, 4096)
			n, err := theirs.Read(buf)
			if err != nil {
				return
			}
			d.got <- string(buf[:n])
			_, _ = io.WriteString(theirs, reply)
		}
		theirs.Close()
	}()
	if script[0] == "" {
		return silent{ours}, nil
	}
	return ours, nil
}

// silent is a connection whose other side does not reply in time.
type silent struct{ net.Conn }

func (silent) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

// selected and restored are the replies to SELECT and RESTORE.
const selected, restored = "+OK\r\n", "+OK\r\n"

// migrations are scripts of other servers, and what MIGRATE does with them.
var migrations = []struct {
	name    string
	scripts [][]string
	runs    []string // The commands, each with its reply after =>.
	sent    []string // The words of each batch.
	dials   int
	left    int // How many of the keys a, b and c remain.
}{
	{name: "one connection for all",
		scripts: [][]string{{selected + restored, restored, selected + restored}},
		runs:    []string{"h 1 a 0 60000 => +OK", "h 1 b 0 60000 => +OK", "h 1 c 3 60000 => +OK"},
		sent:    []string{"SELECT 0 RESTORE a", "RESTORE b", "SELECT 3 RESTORE c"}, dials: 1},
	{name: "one that was closed is replaced",
		scripts: [][]string{{selected + restored}, {selected + restored}},
		runs:    []string{"h 1 a 0 60000 => +OK", "h 1 b 0 60000 => +OK"},
		sent:    []string{"SELECT 0 RESTORE a", "SELECT 0 RESTORE b"}, dials: 2, left: 1},
	{name: "closed twice", scripts: [][]string{{"+"}, {"+"}},
		runs: []string{"h 1 a 0 60000 => -IOERR error or timeout reading to target instance"},
		sent: []string{"SELECT 0 RESTORE a", "SELECT 0 RESTORE a"}, dials: 2, left: 3},
	{name: "no second try after an answer", scripts: [][]string{{selected + restored}},
		runs: []string{"h 1  0 60000 KEYS a b => -IOERR error or timeout reading to target " +
			"instance"},
		sent: []string{"SELECT 0 RESTORE a RESTORE b"}, dials: 1, left: 2},
	{name: "no second try after a timeout", scripts: [][]string{{""}},
		runs: []string{"h 1 a 0 60000 => -IOERR error or timeout reading to target instance"},
		sent: []string{"SELECT 0 RESTORE a"}, dials: 1, left: 3},
	{name: "not RESP", scripts: [][]string{{"HTTP/1.1 400 Bad Request\r\n"}},
		runs: []string{"h 1 a 0 60000 => -IOERR error or timeout reading to target instance"},
		sent: []string{"SELECT 0 RESTORE a"}, dials: 1, left: 3},
	{name: "refused", scripts: [][]string{{"-NOAUTH x\r\n-NOAUTH y\r\n", selected + restored}},
		runs: []string{"h 1 a 0 60000 => -ERR Target instance replied with error: NOAUTH x",
			"h 1 a 0 60000 => +OK"},
		sent: []string{"SELECT 0 RESTORE a", "SELECT 0 RESTORE a"}, dials: 1, left: 2},
	{name: "users and copies",
		scripts: [][]string{{"+OK\r\n" + selected + restored}, {"+OK\r\n" + selected + restored}},
		runs: []string{"h 1 a 0 60000 COPY REPLACE AUTH pw => +OK",
			"h 2 a 0 60000 AUTH2 u pw COPY => +OK"},
		sent:  []string{"AUTH pw SELECT 0 RESTORE a REPLACE", "AUTH u pw SELECT 0 RESTORE a"},
		dials: 2, left: 3},
	{name: "replies that nobody asked for are not the next command's",
		scripts: [][]string{{selected + restored + "+OK\r\n+OK\r\n"},
			{selected + "-ERR full\r\n"}},
		runs: []string{"h 1 a 0 60000 => +OK",
			"h 1 b 0 60000 => -ERR Target instance replied with error: ERR full"},
		sent: []string{"SELECT 0 RESTORE a", "SELECT 0 RESTORE b"}, dials: 2, left: 2},
	{name: "nobody there", dials: 1, left: 3,
		runs: []string{"h 1 a 0 60000 => -IOERR error or timeout writing to target instance"}},
}

// TestMigrateConnections tests which connection MIGRATE uses, what it sends there, and what it does
// with the replies.
func TestMigrateConnections(t *testing.T) {
	for _, c := range migrations {
		t.Run(c.name, func(t *testing.T) {
			l, d := newLocal(t), &targets{t: t, scripts: c.scripts, got: make(chan string, 10)}
			l.e.Dialer = d
			for _, k := range []string{"a", "b", "c"} {
				l.exec([][]byte{[]byte("SET"), []byte(k), []byte("v")})
			}
			for _, run := range c.runs {
				cmd, want, _ := strings.Cut(run, " => ")
				argv := [][]byte{[]byte("MIGRATE")}
				for _, w := range strings.Split(cmd, " ") {
					argv = append(argv, []byte(w))
				}
				require.Equal(t, want+"\r\n", string(l.exec(argv)))
			}
			for _, want := range c.sent {
				require.Equal(t, want, migrateWords(<-d.got))
			}
			require.Empty(t, d.got)
			require.Len(t, d.dials, c.dials)
			require.Equal(t, time.Minute, d.dials[0].Timeout)
			left := l.do(t, [][]byte{[]byte("EXISTS"), []byte("a"), []byte("b"), []byte("c")})
			require.EqualValues(t, c.left, left.Int)
		})
	}
}

// migrateWords returns the words of a batch of commands. For RESTORE it includes only the key.
func migrateWords(batch string) string {
	var words []string
	lines := strings.Split(batch, "\r\n")
	for i := 0; i < len(lines); i++ {
		if strings.HasPrefix(lines[i], "*") {
			continue
		}
		if strings.HasPrefix(lines[i], "$") {
			i++
			words = append(words, lines[i])
			if lines[i] == "RESTORE" { // Key, time to live, payload.
				words = append(words, lines[i+2])
				i += 6
			}
		}
	}
	return strings.Join(words, " ")
}
