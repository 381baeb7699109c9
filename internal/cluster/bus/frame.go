package bus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A frame is a part of a message, or a whole one:
//
//	0      4    5     6
//	│ size │kind│flags│ size bytes of the payload
//
// Numbers are big-endian. The flag more says that the next frame of the same lane goes on with the
// message. Kinds below firstKind belong to the challenge.
const (
	headerLen = 6
	maxFrame  = 64 << 10 // of payload

	flagMore = 1
)

// The kinds of the challenge.
const (
	kindHello   Kind = 1
	kindProof   Kind = 2
	kindRefused Kind = 3
	firstKind   Kind = 8
)

// FirstKind is the lowest kind that a user of the package may choose.
const FirstKind = firstKind

var (
	errHuge  = errors.New("message too long")
	errMixed = errors.New("a message within another one")
	errKind  = errors.New("unexpected kind of message")
)

// header is the beginning of a frame.
type header struct {
	size int
	kind Kind
	more bool
}

// appendHeader appends the encoded header.
func (h header) appendTo(buf []byte) []byte {
	buf = binary.BigEndian.AppendUint32(buf, uint32(h.size))
	flags := byte(0)
	if h.more {
		flags = flagMore
	}
	return append(buf, byte(h.kind), flags)
}

// readHeader reads the header of a frame whose payload is limit bytes long at most.
func readHeader(r io.Reader, buf *[headerLen]byte, limit int) (h header, err error) {
	if _, err = io.ReadFull(r, buf[:]); err != nil {
		return h, err
	}
	size := binary.BigEndian.Uint32(buf[:4])
	if size > uint32(limit) {
		return h, fmt.Errorf("%w: a frame of %d bytes, the limit is %d", errHuge, size, limit)
	}
	if buf[5]&^flagMore != 0 {
		return h, fmt.Errorf("unknown flags %#x in a frame", buf[5])
	}
	return header{int(size), Kind(buf[4]), buf[5] != 0}, nil
}

// readFrame reads a whole frame, which must be of that kind and not go on.
func readFrame(r io.Reader, want Kind, limit int) ([]byte, error) {
	var buf [headerLen]byte
	h, err := readHeader(r, &buf, limit)
	if err != nil {
		return nil, err
	}
	body := make([]byte, h.size)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, unexpected(err)
	}
	if h.kind == kindRefused && want != kindRefused {
		return nil, &refusal{string(body)}
	}
	if h.kind != want || h.more {
		return nil, fmt.Errorf("%w: %d", errKind, h.kind)
	}
	return body, nil
}

// unexpected turns the end of the input into an error that says that it came too early.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// lane is where a message of one lane is put together.
type lane struct {
	kind Kind
	part []byte
	open bool
}

// assembler reads messages from a link.
type assembler struct {
	r     io.Reader
	limit func(Kind) int64 // of a message
	lanes [2]lane
	buf   [headerLen]byte
}

// laneOf returns 0 for the control lane and 1 for the bulk lane.
func laneOf(k Kind) int {
	if k >= Bulk {
		return 1
	}
	return 0
}

// next returns the next whole message. Memory grows with what arrives, not with what is announced.
func (a *assembler) next() (Kind, []byte, error) {
	for {
		h, err := readHeader(a.r, &a.buf, maxFrame)
		if err != nil {
			return 0, nil, err
		}
		if h.kind < firstKind {
			return 0, nil, fmt.Errorf("%w: %d", errKind, h.kind)
		}
		l := &a.lanes[laneOf(h.kind)]
		if l.open && l.kind != h.kind {
			return 0, nil, errMixed
		}
		if int64(len(l.part)+h.size) > a.limit(h.kind) {
			return 0, nil, fmt.Errorf("%w: more than %d bytes", errHuge, a.limit(h.kind))
		}
		n := len(l.part)
		l.part = append(l.part, make([]byte, h.size)...)
		if _, err := io.ReadFull(a.r, l.part[n:]); err != nil {
			return 0, nil, unexpected(err)
		}
		l.kind, l.open = h.kind, h.more
		if !h.more {
			msg := l.part
			l.part = nil
			return h.kind, msg, nil
		}
	}
}
