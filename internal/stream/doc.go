// Package stream is the structure of a stream: entries by ascending ID, and what its consumer
// groups have delivered and not yet seen acknowledged. It knows no commands, clients or files.
//
//	Stream ─→ entries    blocks of packed entries              block.go, entries.go
//	       ├─→ Group     last ID, consumers by name            group.go
//	       │     ├─→ pending   rows: ID, owner, time, count    frame.go, rows.go, pending.go
//	       │     ├─→ nacked    rows: place in the queue, ID
//	       │     └─→ Consumer ─→ owned   rows: ID
//	       └─→ IDMP      what producers have added lately      idmp.go
//
// Everything that grows with the entries (entries, pending, nacked, owned) is a sequence of blocks
// in the arena, sorted by their first ID and found by a binary search through an index of two
// levels (index.go). A block holds about a hundred entries or rows. So each step of a search, an
// insertion or a removal is bounded, whatever the size of the stream.
//
// Groups, consumers and producers are Go structs; what they take is counted in Shared.GoBytes.
package stream
