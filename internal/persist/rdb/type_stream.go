package rdb

import (
	"godwit/internal/object"
	"godwit/internal/stream"
)

// A stream is its nodes, numbers that describe all of it, its groups, and what its producers have
// added lately. Later record types add to earlier ones:
//
//	15  nodes: ID in 16 bytes, BE, and a listpack; entries, last ID
//	    groups: name, last ID
//	            pending entries: ID (16), time (8), deliveries
//	            consumers: name, time seen (8); IDs of pending entries (16)
//	19  stream: first ID, largest deleted ID, entries ever added; group: entries read, −1 not known
//	21  consumer: behind the time seen, the time active (8), −1 never
//	26  behind the groups: seconds and records that are kept; producers: ID, records: idempotent
//	    ID, ID; records ever added, entries that were not added again
//	27  group: at its end, the IDs (16) of NACKed entries, in that order
//
// Numbers without a size are lengths, IDs without one two of them.
//
// What is written is 27 if entries are NACKed, 26 if producers are known, else 21, or 19 if there
// are no groups. Other targets than Auto get the latest that they read, up to 21. These cannot tell
// that an entry is NACKed, so it gets a consumer with an empty name.
func init() {
	register(&Type{
		Object: object.Stream,
		Ops: []Op{
			{typeStream, "*(ss)lll*(sll*(888l)*(s8*(88)))", decodeStream},
			{typeStream2, "*(ss)llllllll*(slll*(888l)*(s8*(88)))", decodeStream2},
			{typeStream3, "*(ss)llllllll*(slll*(888l)*(s88*(88)))", decodeStream3},
			{typeStream4, "*(ss)llllllll*(slll*(888l)*(s88*(88)))ll*(s*(sll))ll", decodeStream4},
			{typeStream5, "*(ss)llllllll*(slll*(888l)*(s88*(88))*(88))ll*(s*(sll))ll",
				decodeStream5},
		},
		Op: func(e *Encoder, x *object.Edit) byte {
			m := x.Stream().Summary()
			e.Streams.count(x.E.Key(), &m)
			return e.streamOp(&m)
		},
		Encode:   encodeStream,
		LargeOp:  func(e *Encoder, o *object.Outline) byte { return e.streamOp(o.StreamMeta) },
		Head:     streamHead,
		SavedLen: savedStreamLen,
		Needs: func(x *object.Edit) int {
			m := x.Stream().Summary()
			return streamNeeds(&m)
		},
		Rewrite: rewriteStream,
		Build: func(h *object.Heap, v *Value) (*object.Edit, error) {
			return object.DetachStream(h, v.rare.stream.Build(h.Streams())), nil
		},
	})
}

// knowsProducers reports whether there is more to say of a stream's producers than what holds for
// streams that never had any.
func knowsProducers(m *stream.Meta) bool {
	return m.IDMP != nil && (m.Known > 0 || *m.IDMP != stream.DefaultIDMP())
}

// streamNeeds returns the least version that keeps what commands act upon.
func streamNeeds(m *stream.Meta) int {
	switch {
	case m.Nacked > 0:
		return VersionNacked
	case knowsProducers(m):
		return VersionProducers
	}
	return 0
}

// streamOp returns the record type of a stream, and raises the version where that is to be done.
func (e *Encoder) streamOp(m *stream.Meta) byte {
	if e.Target.Fixed() && !e.Whole {
		switch e.Target {
		case Redis5:
			return typeStream
		case Redis70:
			return typeStream2
		}
		return typeStream3
	}
	switch needs := streamNeeds(m); {
	case needs != 0:
		e.asks(needs)
		return map[int]byte{VersionProducers: typeStream4, VersionNacked: typeStream5}[needs]
	case (e.Target == Auto || e.Target == Redis70) && m.Groups == 0: // all is told
		return typeStream2
	}
	e.asks(VersionStreams)
	return typeStream3
}

// StreamTallies count streams by what versions of the format may be unable to tell of them.
type StreamTallies struct {
	All, Groups, Producers, Nacked Tally
}

func (t *StreamTallies) count(key []byte, m *stream.Meta) {
	t.All.count(key)
	if m.Groups > 0 {
		t.Groups.count(key)
	}
	if knowsProducers(m) {
		t.Producers.count(key)
	}
	if m.Nacked > 0 {
		t.Nacked.count(key)
	}
}
