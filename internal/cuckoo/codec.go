package cuckoo

import (
	"encoding/binary"
	"math/bits"
)

// HeadSize is the length of a filter's header in bytes. The header is the one that RedisBloom's
// CF.SCANDUMP begins with, little endian:
//
//	┌─────────┬───────────┬───────────┬───────────────┬───────────────┬──────────────────┬─
//	│ items 8 │ buckets 8 │ deletes 8 │ sub-filters 8 │ bucket size 2 │ max iterations 2 │ …
//	└─────────┴───────────┴───────────┴───────────────┴───────────────┴──────────────────┴─
//	 ─┬─────────────┐
//	… │ expansion 2 │
//	 ─┴─────────────┘
const HeadSize = 38

// PutHead writes the header of the filter.
func (f *Filter) PutHead(b []byte) {
	binary.LittleEndian.PutUint64(b, f.Items)
	binary.LittleEndian.PutUint64(b[8:], f.Buckets)
	binary.LittleEndian.PutUint64(b[16:], f.Deletes)
	binary.LittleEndian.PutUint64(b[24:], uint64(f.Mem.Blocks()))
	binary.LittleEndian.PutUint16(b[32:], f.BucketSize)
	binary.LittleEndian.PutUint16(b[34:], f.MaxIterations)
	binary.LittleEndian.PutUint16(b[36:], f.Expansion)
}

// ParseHead reads a header. n is the number of sub-filters. If the header comes from elsewhere,
// Valid must check the numbers.
func ParseHead(b []byte) (f Filter, n uint64) {
	return Filter{
		Items: binary.LittleEndian.Uint64(b), Buckets: binary.LittleEndian.Uint64(b[8:]),
		Deletes: binary.LittleEndian.Uint64(b[16:]), BucketSize: binary.LittleEndian.Uint16(b[32:]),
		MaxIterations: binary.LittleEndian.Uint16(b[34:]),
		Expansion:     binary.LittleEndian.Uint16(b[36:]),
	}, binary.LittleEndian.Uint64(b[24:])
}

// TotalBytes returns the size of n sub-filters in bytes, and false if it exceeds the limits.
func (f *Filter) TotalBytes(n uint64) (total int64, ok bool) {
	for i := range n {
		size, ok := f.SubFilterBytes(int(i))
		if !ok {
			return 0, false
		}
		sum, carry := bits.Add64(uint64(total), uint64(size), 0)
		if carry != 0 || int64(sum) < 0 {
			return 0, false
		}
		total = int64(sum)
	}
	return total, true
}

// chunkMax is the longest chunk in bytes.
const chunkMax = 16 << 20

// Chunk returns the part of the sub-filters that begins at pos, counted from 1 in bytes over all of
// them, and the position of the next chunk. Chunks do not cross sub-filters. At the end the chunk
// is nil.
func (f *Filter) Chunk(pos int64) (chunk []byte, next int64) {
	at := pos - 1
	for i := range f.Mem.Blocks() {
		b := f.Mem.Block(i)
		if at < int64(len(b)) {
			chunk = b[at:min(at+chunkMax, int64(len(b)))]
			return chunk, pos + int64(len(chunk))
		}
		at -= int64(len(b))
	}
	return nil, 0
}

// LoadChunk restores a chunk that ended at position next. It reports false if there is no such
// place.
func (f *Filter) LoadChunk(next int64, chunk []byte) bool {
	if len(chunk) == 0 || next-1 < int64(len(chunk)) {
		return false
	}
	at := next - 1 - int64(len(chunk))
	for i := range f.Mem.Blocks() {
		if size := int64(len(f.Mem.Block(i))); at >= size {
			at -= size
			continue
		} else if at+int64(len(chunk)) > size {
			return false
		}
		copy(f.Mem.Change(i, int(at), len(chunk)), chunk)
		return true
	}
	return false
}
