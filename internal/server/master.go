package server

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"godwit/internal/config"
	"godwit/internal/crash"
	"godwit/internal/engine"
	"godwit/internal/logging"
	"godwit/internal/persist"
	"godwit/internal/persist/rdb"
	"godwit/internal/upstream"
)

// linkMaster runs an attempt to link up with the master, beside the executor. It implements
// engine.Engine.LinkMaster. The executor is held.
func (s *Server) linkMaster(a *engine.LinkAttempt) {
	l := &masterLink{s: s, a: a, cfg: *s.eng.Cfg, began: time.Now()}
	go func() {
		defer crash.Guard("linking up with the master")()
		l.run()
	}()
}

// masterLink is an attempt under way. It belongs to its goroutine.
type masterLink struct {
	s    *Server
	a    *engine.LinkAttempt
	cfg  config.Config // as it was at the beginning
	conn *upstream.Conn
	rdb  *rdbChannel // nil if everything comes over conn

	began time.Time
}

// step runs fn with the executor, unless the attempt is not wanted any more. It reports whether it
// has.
func (l *masterLink) step(fn func()) bool { return l.s.attempt(l.a.Wanted, fn) }

// attempt runs fn with the executor, unless the server stops or wanted, which is called with the
// executor too, says no. It reports whether it has.
func (s *Server) attempt(wanted func() bool, fn func()) bool {
	s.eng.EnterBetween()
	defer s.eng.Release()
	if s.stopping.Load() || !wanted() {
		return false
	}
	fn()
	return true
}

// run makes the attempt, and hands the connection to a loop in the end.
func (l *masterLink) run() {
	err := l.connect()
	if err == nil {
		err = l.talk()
	}
	if err == nil {
		return
	}
	if l.rdb != nil {
		err = l.rdb.abandon(err)
	}
	if l.conn != nil {
		_ = l.conn.Close() // it is of no use any more
	}
	l.step(func() { l.a.Failed(err) })
}

func (l *masterLink) connect() error {
	nc, err := connect(l.a.Dial, l.cfg)
	if err != nil {
		return fmt.Errorf("Error condition on socket for SYNC: %s", connectError(err))
	}
	l.conn = upstream.New(nc, l.a.Timeout)
	if !l.step(func() { l.a.Connected(func() { _ = nc.Close() }) }) {
		return engine.ErrNotWanted
	}
	return nil
}

// connectError returns why a connection cannot be opened, in a line.
func connectError(err error) string {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return "Timeout connecting to the MASTER..."
	}
	return logging.OSError(err)
}

// talk takes the connection from the handshake to the stream.
func (l *masterLink) talk() error {
	answer, err := l.conn.Handshake(l.a.Hello, l.s.log)
	if err == nil && answer.Kind == upstream.Channel {
		term, begin := answer.Term, answer.Begin
		answer, err = l.openChannel(answer.Client)
		answer.Term, answer.Begin = term, begin
	}
	if err != nil {
		return err
	}
	if !l.step(func() { l.a.Answered(answer) }) {
		return engine.ErrNotWanted
	}
	if answer.Kind != upstream.Continue {
		if err := l.synchronize(); err != nil {
			return err
		}
	}
	return l.handOver()
}

// synchronize puts the master's data set in the place of this server's.
func (l *masterLink) synchronize() error {
	from := l.conn
	if l.rdb != nil {
		from = l.rdb.conn
	}
	payload, err := from.Payload()
	if err != nil {
		return err
	}
	var way engine.LoadWay
	if !l.step(func() { way = l.a.Way() }) {
		return engine.ErrNotWanted
	}
	l.sayReceiving(payload, way)
	src := &progressReader{l: l, r: payload}
	if way == engine.LoadFromFile {
		return l.throughFile(src, max(payload.Len, 0))
	}
	err = l.a.Load(engine.LoadSource{Reader: src, Size: max(payload.Len, 0),
		Aside: way == engine.LoadAside}, l.alive)
	l.gotRDB()
	return err
}

// alive sends the master a sign of life. If it does not arrive, the connection's end will show.
func (l *masterLink) alive() { _ = l.conn.Newline() }

func (l *masterLink) sayReceiving(p *upstream.Payload, way engine.LoadWay) {
	to := "disk"
	if way != engine.LoadFromFile {
		to = "parser"
	}
	if p.Len < 0 {
		l.s.log.Notice("MASTER <-> REPLICA sync: receiving streamed RDB from master with EOF to %s",
			to)
		return
	}
	l.s.log.Notice("MASTER <-> REPLICA sync: receiving %d bytes from master to %s", p.Len, to)
	l.a.Progress.Total.Store(p.Len)
}

// progressReader counts what is read of the payload.
type progressReader struct {
	l *masterLink
	r io.Reader
}

// Read implements io.Reader.
func (p *progressReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if n > 0 {
		p.l.a.Progress.Read.Add(int64(n))
		p.l.a.Progress.LastIO.Store(time.Since(p.l.began).Milliseconds())
	}
	return n, err
}

// throughFile receives the master's data set into a file, and loads it. The master says that it has
// size bytes, or 0.
func (l *masterLink) throughFile(payload io.Reader, size int64) error {
	var file *persist.ReceivedFile
	var err error
	if !l.step(func() { file, err = l.a.ReceivedFile(size) }) {
		return engine.ErrNotWanted
	}
	if err != nil {
		return fmt.Errorf("Opening the temp file needed for MASTER <-> REPLICA synchronization: %s",
			logging.OSError(err))
	}
	if err := l.receive(payload, file); err != nil {
		file.Discard()
		return err
	}
	l.gotRDB()
	src, err := file.Rewind()
	if err == nil {
		err = l.check(src, file)
	}
	if err == nil {
		src, err = file.Rewind()
	}
	if err == nil {
		err = l.a.Load(engine.LoadSource{Reader: src, Size: file.Size(), File: file}, l.alive)
	}
	if err != nil {
		file.Discard()
	}
	return err
}

// check keeps the old data if it shows that the file cannot be loaded.
func (l *masterLink) check(src io.Reader, file *persist.ReceivedFile) error {
	if err := file.Check(&livelyReader{l, src, time.Now()}, l.a.MaxRecord); err != nil {
		return fmt.Errorf("Failed trying to load the MASTER synchronization DB; the old data set "+
			"is kept: %w", err)
	}
	return nil
}

// livelyReader shows the master once a second that this replica lives.
type livelyReader struct {
	l    *masterLink
	r    io.Reader
	told time.Time
}

// Read implements io.Reader.
func (r *livelyReader) Read(b []byte) (int, error) {
	if now := time.Now(); now.Sub(r.told) > time.Second {
		r.told = now
		r.l.alive()
	}
	return r.r.Read(b)
}

// receive writes the payload to a file. It compares the checksum at the end, so that the old data
// is kept if the new is damaged.
func (l *masterLink) receive(payload io.Reader, file *persist.ReceivedFile) error {
	var sum trailer
	buf := make([]byte, 256<<10)
	for {
		n, err := payload.Read(buf)
		sum.add(buf[:n])
		if _, err := file.Write(buf[:n]); err != nil {
			return fmt.Errorf("Write error or short write writing to the DB file needed for "+
				"MASTER <-> REPLICA synchronization: %s", logging.OSError(err))
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if l.cfg.RDBChecksum && !sum.right() {
		return errors.New("The RDB file from the master is damaged (RDB CRC error); the old data " +
			"set is kept")
	}
	return nil
}

// trailer computes the checksum of an RDB file that passes by, and keeps the one at its end.
type trailer struct {
	sum  uint64
	tail []byte // the last bytes, at most eight
}

func (t *trailer) add(b []byte) {
	t.tail = append(t.tail, b[max(len(b)-8, 0):]...)
	over := len(t.tail) - 8
	if len(b) < 8 {
		if over > 0 {
			t.sum = rdb.CRC64(t.sum, t.tail[:over])
			t.tail = append(t.tail[:0], t.tail[over:]...)
		}
		return
	}
	t.sum = rdb.CRC64(t.sum, t.tail[:over])
	t.sum = rdb.CRC64(t.sum, b[:len(b)-8])
	t.tail = append(t.tail[:0], t.tail[over:]...)
}

// right reports whether the file ends with its checksum, or with none.
func (t *trailer) right() bool {
	if len(t.tail) < 8 {
		return false
	}
	have := binary.LittleEndian.Uint64(t.tail)
	return have == 0 || have == t.sum
}

// handOver gives the connection to a loop or to goroutines of its own, which go on with the stream.
func (l *masterLink) handOver() error {
	kept, err := l.endChannel()
	if err != nil {
		return err
	}
	nc, rest := l.conn.Conn, l.conn.Rest()
	if err := nc.SetDeadline(time.Time{}); err != nil {
		return err
	}
	if err := l.s.handOver(nc, peer{link: l.a, rest: rest, kept: kept}); err != nil {
		return fmt.Errorf("Handing the master's connection to a loop: %s", logging.OSError(err))
	}
	return nil
}
