package bus

import (
	"bufio"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// read delivers the messages of a link until it breaks.
func (b *Bus) read(from Peer, conn net.Conn, bytes *atomic.Uint64, heard *atomic.Int64) error {
	a := &assembler{r: bufio.NewReader(countReader{conn, bytes, &b.stats}), limit: b.limitOf}
	for {
		kind, payload, err := a.next()
		if err != nil {
			if b.ctx.Err() == nil && (errors.Is(err, errHuge) || errors.Is(err, errKind) ||
				errors.Is(err, errMixed)) {
				b.quiet.warn("bad "+from.Node, "Link with cluster node %s at %s closed: %s",
					from.Node, from.Addr, err)
			}
			return err
		}
		b.stats.received[kind].Add(1)
		heard.Store(time.Now().UnixNano())
		b.o.Receive(from, kind, payload)
	}
}

// limitOf returns how long a message of the kind may be.
func (b *Bus) limitOf(k Kind) int64 {
	if laneOf(k) == 0 {
		return maxControl
	}
	return b.message.Load()
}

// writeBuffer is how many bytes go into one system call.
const writeBuffer = 16 << 10

// errIdle ends a link on which nothing was sent.
var errIdle = errors.New("nothing to send")

// write sends what is queued until the link breaks, or ended is closed. If idle is not 0 it also
// returns when nothing was sent for so long.
func (b *Bus) write(conn net.Conn, q *queues, bytes *atomic.Uint64, ended <-chan struct{},
	idle time.Duration) error {
	w := bufio.NewWriterSize(conn, writeBuffer)
	var buf [headerLen]byte
	for {
		h, part, ok := q.next()
		if !ok {
			if err := w.Flush(); err != nil {
				return err
			}
			if err := q.wait(ended, idle); err != nil {
				return err
			}
			continue
		}
		if _, err := w.Write(h.appendTo(buf[:0])); err != nil {
			return err
		}
		if _, err := w.Write(part); err != nil {
			return err
		}
		n := uint64(headerLen + len(part))
		if bytes != nil {
			bytes.Add(n)
		}
		b.stats.bytesOut.Add(n)
		if !h.more {
			b.stats.sent[h.kind].Add(1)
		}
	}
}

// wait returns when there may be something to send. An error says that there will not be.
func (q *queues) wait(ended <-chan struct{}, idle time.Duration) error {
	var late <-chan time.Time
	if idle != 0 {
		timer := time.NewTimer(idle)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-q.wake:
		return nil
	case <-ended:
		return io.EOF
	case <-late:
		return errIdle
	}
}

// countReader counts what a link receives.
type countReader struct {
	conn  net.Conn
	bytes *atomic.Uint64 // of the link; may be nil
	stats *counters
}

// Read implements io.Reader.
func (c countReader) Read(p []byte) (int, error) {
	n, err := c.conn.Read(p)
	if c.bytes != nil {
		c.bytes.Add(uint64(n))
	}
	c.stats.bytesIn.Add(uint64(n))
	return n, err
}

// localHost returns this side's address of a connection.
func localHost(conn net.Conn) string {
	host, _, _ := net.SplitHostPort(conn.LocalAddr().String())
	return host
}
