package rdb

import (
	"fmt"
	"io"
	"math"

	"godwit/internal/lzf"
	"godwit/internal/object"
)

// A long string is never in one piece in memory when it is written: it is read piece by piece, and
// so it is compressed. Its compressed length comes before the data, so it is read twice: once to
// count, once to write. What is counted is what is written, because the string is frozen.
//
//	+----------+--------------------------+------------------------------+
//	| type     | C3, compressed length,   | LZF data of one piece after  |
//	| key      | length; or length        | the other; or the bytes      |
//	+----------+--------------------------+------------------------------+
//	 StringHead  Packer.LongString

const (
	// pieceBytes is how much of a long string is read at once.
	pieceBytes = 64 << 10
	// hopeless is how many bytes are compressed before a string counts as incompressible if nothing
	// was saved.
	hopeless = 4 << 20
)

// StringHead begins the record of a string whose bytes come from Packer.LongString.
func (e *Encoder) StringHead(key []byte) {
	e.B = append(e.B, typeString)
	e.String(key)
}

// LongString hands the string as it stands behind its key to put, piece by piece, compressed if
// that is wanted and saves something. A piece is good until put returns. What begins incompressible
// (hopeless) is not compressed.
func (p *Packer) LongString(f *object.FrozenString, compress bool, put func([]byte) error) error {
	if p.in == nil {
		p.in, p.out = make([]byte, lzf.History+pieceBytes), make([]byte, lzf.Bound(pieceBytes))
	}
	e := &p.e
	e.B = e.B[:0]
	if compress {
		n, err := p.compressedLen(f)
		if err != nil {
			return err
		}
		if n > 0 {
			e.lzfLens(n, f.Len())
			if err := put(e.B); err != nil {
				return err
			}
			return p.compressed(f, n, put)
		}
	}
	e.Len(uint64(f.Len()))
	if err := put(e.B); err != nil {
		return err
	}
	return Pieces(f, p.in[:pieceBytes], put)
}

// Pieces hands the bytes of the string to put, as many at once as buf is long.
func Pieces(f *object.FrozenString, buf []byte, put func([]byte) error) error {
	for {
		n, err := f.Read(buf)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = put(buf[:n])
		}
		if err != nil {
			return err
		}
	}
}

// compressedLen returns the length of the string when it is compressed, 0 if that is not worth it.
func (p *Packer) compressedLen(f *object.FrozenString) (total int, err error) {
	if f.Len() > math.MaxInt32 {
		return 0, nil
	}
	c := p.pieces()
	for at := int64(0); at < int64(f.Len()); {
		n, err := f.ReadAt(c.room(), at)
		if err != nil && err != io.EOF {
			return 0, err
		}
		at += int64(n)
		total += len(c.next(n))
		if at >= hopeless && int64(total) >= at || total > f.Len()-lzfSaving {
			return 0, nil
		}
	}
	return total, nil
}

// compressed hands the n compressed bytes of the string to put.
func (p *Packer) compressed(f *object.FrozenString, n int, put func([]byte) error) error {
	c := p.pieces()
	for {
		in, err := f.Read(c.room())
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		b := c.next(in)
		n -= len(b)
		if err := put(b); err != nil {
			return err
		}
	}
	if n != 0 {
		return fmt.Errorf("rdb: a long string has changed while it was compressed: %d bytes", n)
	}
	return nil
}

// pieceCompressor compresses one piece after the other.
type pieceCompressor struct {
	p    *Packer
	have int // bytes of the pieces before that p.in begins with
}

func (p *Packer) pieces() pieceCompressor {
	if p.e.lzf == nil {
		p.e.lzf = new(lzf.Compressor)
	}
	return pieceCompressor{p: p}
}

// room returns where the next piece goes.
func (c *pieceCompressor) room() []byte { return c.p.in[c.have : c.have+pieceBytes] }

// next compresses the piece of n bytes in room.
func (c *pieceCompressor) next(n int) []byte {
	src := c.p.in[:c.have+n]
	out := c.p.out[:c.p.e.lzf.Piece(c.p.out, src, c.have)]
	from := max(len(src)-lzf.History, 0)
	c.have = copy(c.p.in, src[from:])
	return out
}
