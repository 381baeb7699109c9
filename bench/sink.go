//go:build linux

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"godwit/internal/resp"
	"godwit/internal/testserver"
)

// sink is a replica that keeps nothing. It takes the snapshot and the stream from a master, throws
// them away, and acknowledges once a second. With it a master costs what it costs if its replica
// has a machine of its own.
type sink struct {
	conn   *blockingConn
	in     *bufio.Reader
	offset atomic.Int64 // of what was read of the stream
	acked  time.Time
}

// withSink runs f while a sink reads the stream of a master, at the lowest priority.
func withSink(master *server, f func(s *sink) error) error {
	c, err := dialBlocking(master.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	s := &sink{conn: c, in: bufio.NewReaderSize(c, 1<<20)}
	if err := s.join(); err != nil {
		return fmt.Errorf("replica that keeps nothing: %w", err)
	}
	done := background(s.read)
	err = f(s)
	_ = unix.Shutdown(c.fd, unix.SHUT_RDWR) // ends read; it fails if the master has hung up
	if rerr := <-done; !errors.Is(rerr, io.ErrUnexpectedEOF) {
		err = errors.Join(err, rerr)
	}
	return err
}

// join shakes hands and reads the snapshot, of which the length comes first: it has not announced
// that it reads the other form.
func (s *sink) join() error {
	hello := [][]string{{"PING"}, {"REPLCONF", "listening-port", "1"},
		{"REPLCONF", "capa", "psync2"}, {"PSYNC", "?", "-1"}}
	var line string
	for _, argv := range hello {
		if err := s.send(argv...); err != nil {
			return err
		}
		var err error
		if line, err = s.in.ReadString('\n'); err != nil {
			return err
		}
		if line[0] != '+' {
			return fmt.Errorf("%v: %q", argv, line)
		}
	}
	var id string
	var offset, size int64
	if _, err := fmt.Sscanf(line, "+FULLRESYNC %s %d", &id, &offset); err != nil {
		return fmt.Errorf("PSYNC: %q: %w", line, err)
	}
	s.offset.Store(offset)
	for line = "\n"; line == "\n"; { // they come while the snapshot is being made
		var err error
		if line, err = s.in.ReadString('\n'); err != nil {
			return err
		}
	}
	size, err := strconv.ParseInt(strings.Trim(line, "$\r\n"), 10, 64)
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	if _, err := io.CopyN(io.Discard, s.in, size); err != nil {
		return err
	}
	return s.acknowledge()
}

// read reads the stream until the connection ends.
func (s *sink) read() error {
	s.offset.Add(int64(s.in.Buffered()))
	buf := make([]byte, 1<<20)
	for {
		n, err := s.conn.Read(buf)
		if err != nil {
			return err
		}
		s.offset.Add(int64(n))
		if time.Since(s.acked) < time.Second {
			continue
		}
		if err := s.acknowledge(); err != nil {
			return err
		}
	}
}

func (s *sink) send(argv ...string) error {
	_, err := s.conn.Write(resp.AppendCommand(nil, argv...))
	return err
}

func (s *sink) acknowledge() error {
	s.acked = time.Now()
	return s.send("REPLCONF", "ACK", strconv.FormatInt(s.offset.Load(), 10))
}

// catchUp waits until the sink has read all that the master has sent.
func (s *sink) catchUp(master *server) error {
	offset, err := master.InfoInt("replication", "master_repl_offset")
	for end := time.Now().Add(testserver.Patience); err == nil && s.offset.Load() < offset; {
		if time.Sleep(2 * time.Millisecond); time.Now().After(end) {
			err = fmt.Errorf("the stream was read up to %d, not to %d", s.offset.Load(), offset)
		}
	}
	return err
}
