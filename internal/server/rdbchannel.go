package server

import (
	"errors"
	"fmt"
	"math"
	"time"

	"godwit/internal/backlog"
	"godwit/internal/crash"
	"godwit/internal/engine"
	"godwit/internal/logging"
	"godwit/internal/upstream"
)

// rdbChannel is the second connection of a full synchronization, which carries the RDB file, and
// what the first one brings meanwhile.
//
//	second connection ─→ RDB file ─→ load
//	first connection ──→ kept …………………………………┴─→ its client runs what was kept, and goes on
//
// A goroutine reads the first connection. When as much is kept as may be, it ends: the rest waits
// in the socket, and at the master.
type rdbChannel struct {
	conn  *upstream.Conn
	main  *upstream.Conn
	kept  *backlog.Pipe
	limit int64
	log   *logging.Logger
	done  chan struct{} // closed when the goroutine has ended
	err   error         // why the first connection has ended; after done
}

// openChannel opens the second connection, and returns the place of the RDB file that follows on
// it. client is the first one's number at the master.
func (l *masterLink) openChannel(client string) (upstream.Answer, error) {
	l.s.log.Notice("PSYNC is not possible, initialize RDB channel.")
	l.step(func() { l.s.eng.PauseAt(engine.PauseBeforeChannel) })
	nc, err := connect(l.a.Dial, l.cfg)
	if err != nil {
		return upstream.Answer{}, fmt.Errorf("%w: %s", upstream.ErrChannel, connectError(err))
	}
	kept := backlog.NewPipe(l.s.eng.Buffers, math.MaxInt64, time.Hour, 1)
	if kept == nil {
		_ = nc.Close()
		return upstream.Answer{}, errors.New("The system has no memory for the master's stream")
	}
	r := &rdbChannel{conn: upstream.New(nc, l.a.Timeout), main: l.conn, kept: kept,
		limit: l.a.KeepLimit, log: l.s.log, done: make(chan struct{})}
	l.rdb = r
	if err := r.main.BeginStream(); err != nil {
		close(r.done)
		return upstream.Answer{}, err
	}
	go func() {
		defer crash.Guard("keeping the master's stream")()
		defer close(r.done)
		r.err = r.keep()
	}()
	if !l.step(func() {
		first := l.a.Close
		l.a.Kept, l.a.Close = kept, func() { first(); _ = nc.Close() }
	}) {
		return upstream.Answer{}, engine.ErrNotWanted
	}
	answer, err := r.conn.RDBChannel(l.a.Hello, client)
	if err == nil {
		l.s.log.Notice("Starting to receive RDB and replication stream in parallel.")
	}
	return answer, err
}

// keep reads the first connection until it is told to stop, or enough is kept. If the connection
// ends, it ends the second one.
func (r *rdbChannel) keep() error {
	buf := make([]byte, windowInput)
	for in := r.kept.Reader(0); in.Lag() < r.limit; {
		n, err := r.main.Stream(buf)
		if n > 0 {
			if err := r.kept.Write(buf[:n]); err != nil {
				_ = r.conn.Close()
				return err
			}
		}
		switch {
		case errors.Is(err, upstream.ErrStopped):
			return nil
		case err != nil:
			_ = r.conn.Close()
			return err
		}
	}
	r.log.Notice("Replication buffer limit has been reached (%d bytes), stopped buffering "+
		"replication stream. More of it waits at the master.", r.limit)
	return nil
}

// stop ends the goroutine, and returns why the first connection has ended, nil if it has not.
func (r *rdbChannel) stop() error {
	_ = r.main.StopStream() // if it fails, so does the goroutine's read
	<-r.done
	return r.err
}

// abandon ends a synchronization that has failed, and returns the error that was the cause.
func (r *rdbChannel) abandon(err error) error {
	_ = r.conn.Close()
	if lost := r.stop(); lost != nil {
		err = fmt.Errorf("The main channel was lost during the full synchronization: %w", lost)
	}
	r.kept.Reader(0).Close()
	r.kept.End(nil)
	return err
}

// gotRDB ends the second connection: the RDB file is here.
func (l *masterLink) gotRDB() {
	if l.rdb != nil {
		_ = l.rdb.conn.Close()
	}
}

// endChannel returns what was kept of the stream, nil if there was no second connection.
func (l *masterLink) endChannel() (*backlog.Reader, error) {
	r := l.rdb
	if r == nil {
		return nil, nil
	}
	if err := r.stop(); err != nil {
		return nil, fmt.Errorf("The main channel was lost while the RDB was loaded: %w", err)
	}
	if err := r.kept.Write(r.main.Rest()); err != nil {
		return nil, err
	}
	r.kept.End(nil)
	return r.kept.Reader(0), nil
}
