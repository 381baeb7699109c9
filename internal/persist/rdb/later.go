package rdb

import "encoding/binary"

// Compressing strings takes longer than all else that is done for a record, so an Encoder may leave
// it to another goroutine. It then adds strings as they are and notes where they lie. What it
// appends between BeginFrame and EndFrame is a frame. Frames stand one behind the other, and a
// Packer turns them into the bytes of a file.
//
//	+--------+--------+---------+------------------------+
//	| length | spans  | records | at | length | at | …   |  numbers of 4 bytes, LE
//	+--------+--------+---------+------------------------+
//
// at is where in the records a string's length begins, length is that of the string.

const (
	frameHead = 8
	spanLen   = 8
)

// Frame is a frame that was begun.
type Frame struct{ start int }

// BeginFrame begins a frame.
func (e *Encoder) BeginFrame() Frame {
	f := Frame{len(e.B)}
	e.B = append(e.B, 0, 0, 0, 0, 0, 0, 0, 0)
	e.later, e.spans = true, e.spans[:0]
	return f
}

// EndFrame ends it.
func (e *Encoder) EndFrame(f Frame) {
	at := f.start + frameHead
	binary.LittleEndian.PutUint32(e.B[f.start:], uint32(len(e.B)-at))
	binary.LittleEndian.PutUint32(e.B[f.start+4:], uint32(len(e.spans)))
	for _, s := range e.spans {
		e.B = binary.LittleEndian.AppendUint32(e.B, uint32(s.at-at))
		e.B = binary.LittleEndian.AppendUint32(e.B, uint32(s.n))
	}
	e.later = false
}

// later is a string that is to be compressed: where its length begins, how many bytes it has.
type later struct{ at, n int }

// Packer compresses the strings of frames. The zero value is ready.
type Packer struct {
	e       Encoder
	in, out []byte // of LongString
}

// Pack returns the records of whole frames, their strings compressed. It is good until the next
// call.
func (p *Packer) Pack(frames []byte) []byte {
	e := &p.e
	e.B = e.B[:0]
	for len(frames) > 0 {
		n, spans := int(binary.LittleEndian.Uint32(frames)),
			int(binary.LittleEndian.Uint32(frames[4:]))
		b, notes := frames[frameHead:frameHead+n], frames[frameHead+n:]
		frames = notes[spans*spanLen:]
		done := 0
		for ; spans > 0; spans-- {
			at, size := int(binary.LittleEndian.Uint32(notes)),
				int(binary.LittleEndian.Uint32(notes[4:]))
			notes = notes[spanLen:]
			end := at + lenWidth(size) + size
			e.B = append(e.B, b[done:at]...)
			done = at
			if e.deflate(b[end-size : end]) {
				done = end
			}
		}
		e.B = append(e.B, b[done:]...)
	}
	return e.B
}

// lenWidth returns how many bytes Len adds for n.
func lenWidth(n int) int {
	switch {
	case n < 1<<6:
		return 1
	case n < 1<<14:
		return 2
	case n <= 1<<32-1:
		return 5
	}
	return 9
}
