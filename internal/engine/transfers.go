package engine

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"godwit/internal/backlog"
)

// The two forms in which a snapshot is sent to a replica. Both run beside the executor, on a
// goroutine of the connection.

// pipeDest is a Pipe as the destination of a snapshot.
type pipeDest struct{ *backlog.Pipe }

// Commit implements persist.SyncDest.
func (d pipeDest) Commit() error {
	d.End(nil)
	return nil
}

// Abort implements persist.SyncDest.
func (d pipeDest) Abort() { d.End(errNoSnapshot) }

var errNoSnapshot = errors.New("the snapshot has failed")

// writeWithin writes all of the buffers. It fails when the replica takes nothing for a while. stop,
// if it is not nil, returns why nothing is to be written any more.
func writeWithin(w net.Conn, bufs net.Buffers, within time.Duration, sent *int64,
	stop func() error) error {
	if err := w.SetWriteDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	// A reader that is closed from here on sets the deadline anew. One that was closed before has
	// set it in vain.
	if stop != nil {
		if err := stop(); err != nil {
			return err
		}
	}
	n, err := bufs.WriteTo(w)
	*sent += n
	return err
}

// pipeTransfer returns what sends the snapshot in the form that ends with a mark.
func pipeTransfer(p *backlog.Pipe, i int, mark string,
	within time.Duration) func(net.Conn, *int64) error {
	return func(w net.Conn, sent *int64) error {
		r := p.Reader(i)
		defer r.Close()
		r.OnClose(func() { _ = w.SetWriteDeadline(time.Now()) }) // its write fails then
		head := net.Buffers{[]byte("$EOF:" + mark + "\r\n")}
		if err := writeWithin(w, head, within, sent, r.Why); err != nil {
			return err
		}
		if err := sendPipe(w, r, within, sent); err != nil {
			return err
		}
		return writeWithin(w, net.Buffers{[]byte(mark)}, within, sent, nil)
	}
}

// sendPipe sends what a pipe holds until its end.
func sendPipe(w net.Conn, r *backlog.Reader, within time.Duration, sent *int64) error {
	for {
		list, err := r.Wait(make([][]byte, 0, 4))
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		n := 0
		for _, b := range list {
			n += len(b)
		}
		err = writeWithin(w, list, within, sent, r.Why)
		if r.Advance(n); err != nil {
			return cmp.Or(r.Why(), err)
		}
	}
}

// syncFile is a snapshot in a file that has no name any more: it goes when it is closed.
type syncFile struct {
	f    *os.File
	size int64
	uses int // replicas that are still to be sent it; belongs to the executor
}

func newSyncFile(uses int) (*syncFile, error) {
	f, err := os.CreateTemp(".", "temp-sync-*.rdb")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // where that is not possible, it is removed when it is closed
	return &syncFile{f: f, uses: uses}, nil
}

// Write implements persist.SyncDest.
func (d *syncFile) Write(p []byte) error {
	n, err := d.f.Write(p)
	d.size += int64(n)
	return err
}

// Commit implements persist.SyncDest.
func (d *syncFile) Commit() error { return nil }

// Abort implements persist.SyncDest.
func (d *syncFile) Abort() {}

// reader returns what reads the file from its beginning.
func (d *syncFile) reader() io.Reader { return io.NewSectionReader(d.f, 0, d.size) }

// release counts replicas that are done with the file.
func (d *syncFile) release(n int) {
	if d.uses -= n; d.uses == 0 {
		_ = d.f.Close()
		_ = os.Remove(d.f.Name())
	}
}

// fileTransfer returns what sends a file: with its length before it, or between marks if there is
// one.
func fileTransfer(file io.Reader, size int64, mark string,
	within time.Duration) func(net.Conn, *int64) error {
	return func(w net.Conn, sent *int64) error {
		head := fmt.Appendf(nil, "$%d\r\n", size)
		if mark != "" {
			head = []byte("$EOF:" + mark + "\r\n")
		}
		if err := writeWithin(w, net.Buffers{head}, within, sent, nil); err != nil {
			return err
		}
		b := make([]byte, 256<<10)
		for left := size; left > 0; {
			n, err := io.ReadFull(file, b[:min(int64(len(b)), left)])
			if err != nil {
				return fmt.Errorf("reading the snapshot: %w", err)
			}
			if err := writeWithin(w, net.Buffers{b[:n]}, within, sent, nil); err != nil {
				return err
			}
			left -= int64(n)
		}
		if mark == "" {
			return nil
		}
		return writeWithin(w, net.Buffers{[]byte(mark)}, within, sent, nil)
	}
}
