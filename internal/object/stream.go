package object

import (
	"strconv"

	"godwit/internal/stream"
)

// Stream is the type of streams.
const Stream Type = 6

// EncStream is the encoding of streams: blocks of packed entries and rows, see package stream.
const EncStream = EncSketch + 1

func init() {
	describe(Stream, Description{
		Name:      "stream",
		Encodings: []EncodingName{{EncStream, "stream"}},
		Awaited:   true,
		Len:       func(x *Edit) int { return x.Stream().Len() },
		Outline:   outlineStream,
		Each:      eachPart,
		Digest:    digestEntries,
	})
}

// streamLarge is a stream as Large.
type streamLarge struct {
	*stream.Stream
	captured
}

// DetachStream makes the stream, which h.Streams has a share in, the value of an entry without a
// key; see NewDetached.
func DetachStream(h *Heap, s *stream.Stream) *Edit {
	return detachLarge(h, Stream, EncStream, &streamLarge{Stream: s})
}

// StreamValue hands a new, empty stream over to the entry that is built from the value.
func StreamValue(h *Heap) Value {
	l := &streamLarge{Stream: stream.New(h.streams)}
	return Value{Type: Stream, Enc: EncStream, H: h.add(l)}
}

// Streams returns what the streams of the heap share.
func (h *Heap) Streams() *stream.Shared { return h.streams }

// HasLargeStreams reports whether there may be streams that Warmup.Stream returns.
func (h *Heap) HasLargeStreams() bool { return h.streams.Large > 0 }

// Stream returns the stream of an entry that has one, to be read.
func (x *Edit) Stream() *stream.Stream { return x.Large().(*streamLarge).Stream }

// ChangingStream returns the stream of an entry that has one, to be changed. What its groups have
// pending is a part of it.
func (x *Edit) ChangingStream() *stream.Stream {
	x.change()
	s := x.Large().(*streamLarge)
	if s.capture != nil && s.capture.Ahead != nil {
		s.capture.Ahead()
	}
	return s.Stream
}

// outlineStream counts parts, as Each does.
func outlineStream(x *Edit, o *Outline) {
	o.StreamMeta = x.Stream().Meta()
	o.Len = x.Stream().Parts()
}

func eachPart(x *Edit, visit func(el *Element) bool) {
	x.Stream().EachPart(func(p *stream.Part) bool {
		x.el.Part = p
		return visit(&x.el)
	})
}

// digestEntries mixes the entries, as Redis does: groups do not count, and the numbers of an ID
// have a dot between them.
func digestEntries(d *Digest, x *Edit) {
	var id []byte
	for it := x.Stream().Range(stream.ID{}, stream.MaxID, false); it.Next(); {
		id = append(strconv.AppendUint(id[:0], it.ID.Ms, 10), '.')
		id = strconv.AppendUint(id, it.ID.Seq, 10)
		d.Mix(id)
		for range it.Fields() {
			name, value := it.Field()
			d.mixText(name)
			d.mixText(value)
		}
	}
}

// Len implements Large.
func (s *streamLarge) Len() int { return s.Stream.Len() }

// Size implements Large.
func (s *streamLarge) Size() int64 { return s.Stream.Bytes() }

// HeaderBytes implements Large. Groups, consumers and producers are counted by stream.Shared.
func (s *streamLarge) HeaderBytes() int64 { return streamHeader }

const streamHeader = 304 // the size classes of a Stream and of what holds it

// Clone implements Large.
func (s *streamLarge) Clone(h *Heap) Large {
	return &streamLarge{Stream: s.Stream.Clone(h.streams)}
}

// Defrag implements Large.
func (s *streamLarge) Defrag(w *DefragWalk) (done bool) {
	w.cursor, w.left = s.Stream.Defrag(w.cursor, w.left)
	return w.cursor == 0
}

// begin implements Large.
func (s *streamLarge) begin(c *Capture) {
	f := s.Stream.Freeze()
	c.parts, c.Len, c.StreamMeta = f, f.Parts(), f.Meta()
}

// step implements Large. A part counts as NodeWeight elements.
func (s *streamLarge) step(c *Capture, n int) (done bool) {
	return c.parts.(*stream.Frozen).Step(max(n/NodeWeight, 1), func(p *stream.Part) {
		c.el = Element{Part: p}
		c.give()
	})
}
