package persist

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"sync"

	"godwit/internal/keyspace"
	"godwit/internal/listpack"
	"godwit/internal/object"
	"godwit/internal/persist/rdb"
)

// plainFormat is a Format that is easy to read back: frames of a tag and a length.
type plainFormat struct {
	ks *keyspace.Keyspace
}

func frame(dst []byte, tag byte, format string, args ...any) []byte {
	s := fmt.Sprintf(format, args...)
	dst = append(dst, tag)
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

func (f *plainFormat) Head(dst []byte) []byte { return frame(dst, 'H', "") }
func (f *plainFormat) Tail(dst []byte) []byte { return frame(dst, 'T', "") }

func (f *plainFormat) Database(dst []byte, db keyspace.SavedDB) []byte {
	return frame(dst, 'D', "%d", db.ID)
}

func (f *plainFormat) Key(dst []byte, e object.Entry) []byte {
	dst = frame(dst, 'K', "%s", e.Key())
	return frame(dst, 'V', "%d %s", e.Deadline(), text(f.ks, e))
}

func (f *plainFormat) LongString(dst []byte, e object.Entry) []byte {
	dst = frame(dst, 'K', "%s", e.Key())
	head := fmt.Sprintf("%d string ", e.Deadline())
	dst = append(dst, 'V')
	dst = binary.AppendUvarint(dst, uint64(len(head)+e.StringLen()))
	return append(dst, head...)
}

func (f *plainFormat) LongStringEnd(dst []byte, e object.Entry) []byte {
	return frame(dst, 'Z', "%s", e.Key())
}

func (f *plainFormat) Large(dst []byte, e object.Entry, c *object.Capture) ([]byte, LargeEncoder) {
	dst = frame(dst, 'L', "%s", e.Key())
	if e.Key()[len(e.Key())-1]%2 == 0 {
		c.CompressCopies()
	}
	r := &plainLarge{capture: c,
		sketch: flatSketch{head: c.Header, blocks: make([][]byte, len(c.Blocks))}}
	return frame(dst, 'V', "%d %s", e.Deadline(), e.Type()), r
}

type plainLarge struct {
	capture *object.Capture
	n       int
	sketch  flatSketch // as far as it has come
}

func (r *plainLarge) Element(dst []byte, el *object.Element) []byte {
	r.n++
	switch r.capture.Type {
	case object.Hash:
		return frame(dst, 'E', "%s=%s@%d", el.Name.B, el.Value.B, el.Deadline)
	case object.Set:
		return frame(dst, 'E', "%s", el.Name.B)
	case object.ZSet:
		return frame(dst, 'E', "%s:%g", el.Name.B, el.Score)
	}
	if r.capture.Header != nil {
		r.sketch.blocks[el.Block] = append(r.sketch.blocks[el.Block], el.Value.B...)
		return dst
	}
	if r.capture.Type == object.Stream {
		streamRows(el.Part, true, func(format string, args ...any) {
			dst = frame(dst, 'E', format, args...)
		})
		return dst
	}
	b := el.Node.Unpacked(nil)
	if el.Node.Plain {
		return frame(dst, 'E', "%s", b)
	}
	n := 0
	for p := listpack.First(b); p != 0; p = listpack.Next(b, p) {
		dst = frame(dst, 'E', "%s", listpack.Get(b, p).Append(nil))
		n++
	}
	if n != el.Node.Count {
		panic("a node of another length")
	}
	return dst
}

func (r *plainLarge) End(dst []byte) []byte {
	if r.capture.Header != nil {
		dst = frame(dst, 'E', "%s", r.sketch.text(r.capture.Type))
	}
	return frame(dst, 'X', "%s %d %d", r.capture.Type, r.n, r.capture.Len)
}

// decodePlain returns the state that a stream of plainFormat holds.
func decodePlain(b []byte) (map[string]string, error) {
	m := map[string]string{}
	db, key, val, large := "", "", "", false
	var els []string
	done := false
	for len(b) > 0 {
		tag := b[0]
		n, w := binary.Uvarint(b[1:])
		s := string(b[1+w : 1+w+int(n)])
		b = b[1+w+int(n):]
		switch tag {
		case 'D':
			db = s
		case 'K', 'L':
			if large {
				return nil, fmt.Errorf("key %q inside a large one", s)
			}
			key, large, els = s, tag == 'L', nil
		case 'V':
			val = s
			if !large {
				m[db+" "+key] = val
			}
		case 'E':
			els = append(els, s)
		case 'X':
			f := strings.Fields(s)
			if f[1] != f[2] {
				return nil, fmt.Errorf("key %q: %s", key, s)
			}
			if f[0] != "list" && f[0] != "stream" {
				sort.Strings(els)
			}
			if _, dup := m[db+" "+key]; dup {
				return nil, fmt.Errorf("key %q twice", key)
			}
			m[db+" "+key] = val + " " + strings.Join(els, " ")
			large = false
		case 'Z':
			if s != key {
				return nil, fmt.Errorf("the end of %q behind %q", s, key)
			}
		case 'T':
			done = true
		}
	}
	if !done {
		return nil, errors.New("no end")
	}
	return m, nil
}

// memDest keeps what is written; it may be told to wait or to fail.
type memDest struct {
	mu        sync.Mutex
	b         bytes.Buffer
	committed bool
	aborted   bool
	fail      error
	gate      chan struct{} // if set, each Write waits for it
	pieces    chan struct{} // if set, each piece of a long string waits for it
	failPiece error         // of a long string
}

func (d *memDest) Write(p []byte) error {
	if d.gate != nil {
		<-d.gate
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return d.fail
	}
	d.b.Write(p)
	return nil
}

// WriteString reads the string twice: what it is must not change in between.
func (d *memDest) WriteString(f *object.FrozenString) error {
	var buf [37]byte
	first := make([]byte, 0, f.Len())
	for len(first) < f.Len() {
		n, err := f.ReadAt(buf[:], int64(len(first)))
		if err != nil && err != io.EOF {
			return err
		}
		first = append(first, buf[:n]...)
		d.piece()
	}
	if d.failPiece != nil {
		return d.failPiece
	}
	var second []byte
	err := rdb.Pieces(f, buf[:], func(p []byte) error {
		second = append(second, p...)
		d.piece()
		return nil
	})
	switch {
	case err != nil:
		return err
	case !bytes.Equal(first, second):
		return fmt.Errorf("a frozen string of %d bytes has changed", len(first))
	}
	return d.Write(second)
}

func (d *memDest) piece() {
	if d.pieces != nil {
		<-d.pieces
	}
}

// feed lets n more pieces through.
func (d *memDest) feed(n int) {
	for ; n > 0; n-- {
		select {
		case d.pieces <- struct{}{}:
		default:
		}
	}
}

func (d *memDest) Commit() error { d.committed = true; return nil }
func (d *memDest) Abort()        { d.aborted = true }
