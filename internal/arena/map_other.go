//go:build !linux

package arena

import (
	"os"
	"unsafe"
)

// Systems other than Linux are for development only: here the "mappings" are ordinary Go memory,
// kept alive by the arena's table of chunks and reclaimed by the collector.

func mapMemory(size int64) (unsafe.Pointer, error) {
	return unsafe.Pointer(unsafe.SliceData(make([]uint64, size/8))), nil
}

func tryUnmap(unsafe.Pointer, int64) error { return nil }

func mapReserve(size int64, _ bool) (unsafe.Pointer, error) { return nil, nil }

func mapTrial(int64) (unsafe.Pointer, error) { return nil, nil }

func remapMemory(p unsafe.Pointer, from, to int64) (unsafe.Pointer, error) {
	q, err := mapMemory(to)
	if err == nil {
		n := min(from, to)
		copy(unsafe.Slice((*byte)(q), n), unsafe.Slice((*byte)(p), n))
	}
	return q, err
}

func discardMemory(p unsafe.Pointer, size int64) { clear(unsafe.Slice((*byte)(p), size)) }

func discardPage() int { return os.Getpagesize() }
