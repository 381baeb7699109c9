package replication

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp"
	"godwit/internal/testserver"
)

// rawReplica is a connection that speaks for a replica, so that a test sees each byte.
type rawReplica struct {
	t      *testing.T
	conn   net.Conn
	r      *bufio.Reader
	offset int64 // of what it has read
	id     string
}

// rawReplicaOf connects. cfg is nil for a plain connection.
func rawReplicaOf(t *testing.T, addr string, cfg *tls.Config) *rawReplica {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	if cfg != nil {
		conn = tls.Client(conn, cfg)
	}
	require.NoError(t, conn.SetDeadline(time.Now().Add(testserver.Patience)))
	t.Cleanup(func() { conn.Close() })
	return &rawReplica{t: t, conn: conn, r: bufio.NewReader(conn)}
}

// send sends a command, whose words are separated by blanks.
func (r *rawReplica) send(words string) {
	r.t.Helper()
	_, err := r.conn.Write(resp.AppendCommand(nil, strings.Fields(words)...))
	require.NoError(r.t, err)
}

// line reads a line. Keep-alive newlines before it are left out.
func (r *rawReplica) line() string {
	r.t.Helper()
	for {
		line, err := r.r.ReadString('\n')
		require.NoError(r.t, err)
		if line != "\n" {
			return strings.TrimSuffix(line, "\r\n")
		}
	}
}

// ask sends a command and returns the line that answers it.
func (r *rawReplica) ask(words string) string {
	r.t.Helper()
	r.send(words)
	return r.line()
}

// full asks for a full synchronization, and returns the RDB.
func (r *rawReplica) full(options string) string {
	r.t.Helper()
	if options != "" {
		require.Equal(r.t, "+OK", r.ask("REPLCONF "+options))
	}
	_, err := fmt.Sscanf(r.ask("PSYNC ? -1"), "+FULLRESYNC %s %d", &r.id, &r.offset)
	require.NoError(r.t, err)
	return r.payload()
}

// payload reads a snapshot in either form.
func (r *rawReplica) payload() string {
	r.t.Helper()
	head := r.line()
	require.Equal(r.t, "$", head[:1])
	if mark, ok := strings.CutPrefix(head, "$EOF:"); ok {
		require.Len(r.t, mark, 40)
		var text strings.Builder
		for !strings.HasSuffix(text.String(), mark) {
			b, err := r.r.ReadByte()
			require.NoError(r.t, err)
			text.WriteByte(b)
		}
		return strings.TrimSuffix(text.String(), mark)
	}
	n, err := strconv.Atoi(head[1:])
	require.NoError(r.t, err)
	text := make([]byte, n)
	_, err = io.ReadFull(r.r, text)
	require.NoError(r.t, err)
	return string(text)
}

// next reads a command of the stream. PINGs are left out.
func (r *rawReplica) next() string {
	r.t.Helper()
	for {
		head := r.line()
		r.offset += int64(len(head)) + 2
		n, err := strconv.Atoi(strings.TrimPrefix(head, "*"))
		require.NoError(r.t, err, head)
		words := make([]string, n)
		for i := range words {
			size := r.line()
			words[i] = r.line() // no value here has a line end
			r.offset += int64(len(size)+len(words[i])) + 4
		}
		if line := strings.Join(words, " "); !strings.EqualFold(line, "PING") {
			return line
		}
	}
}

// ack acknowledges what was read.
func (r *rawReplica) ack(more string) {
	r.t.Helper()
	r.send(fmt.Sprintf("REPLCONF ACK %d%s", r.offset, more))
}

// begin acknowledges the snapshot, which begins the stream. Redis takes no notice of that before it
// has seen its child's end.
func (r *rawReplica) begin(master *testserver.Server) {
	r.t.Helper()
	require.NoError(r.t, master.WaitInfo("replication", "online", func(i map[string]string) bool {
		return strings.Contains(fmt.Sprint(i), "state=online")
	}))
	r.ack("")
}
