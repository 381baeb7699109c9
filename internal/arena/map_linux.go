package arena

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapMemory maps size bytes that read as zero.
func mapMemory(size int64) (unsafe.Pointer, error) {
	return unix.MmapPtr(-1, 0, nil, uintptr(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
}

// tryUnmap fails for a range that was mapped only if there are too many mappings to cut it out of
// its neighbours. Any other error is a broken invariant.
func tryUnmap(p unsafe.Pointer, size int64) error {
	err := unix.MunmapPtr(p, uintptr(size))
	if err != nil && err != unix.ENOMEM {
		panic("arena: munmap: " + err.Error())
	}
	return err
}

// mapReserve maps memory that will not be touched. Neighbours that can be written and that cannot
// stay mappings of their own, so that giving one back makes room for another.
func mapReserve(size int64, writable bool) (unsafe.Pointer, error) {
	prot := unix.PROT_READ
	if writable {
		prot |= unix.PROT_WRITE
	}
	return unix.MmapPtr(-1, 0, nil, uintptr(size), prot, unix.MAP_PRIVATE|unix.MAP_ANON)
}

// canMap reports whether the system would map size bytes.
func canMap(size int64) bool {
	p, err := mapMemory(size)
	return err == nil && tryUnmap(p, size) == nil
}

func remapMemory(p unsafe.Pointer, from, to int64) (unsafe.Pointer, error) {
	return unix.MremapPtr(p, uintptr(from), nil, uintptr(to), unix.MREMAP_MAYMOVE)
}

// discardMemory gives the pages back; they read as zero when touched again. Failing (locked memory)
// does no harm: nobody relies on the contents.
func discardMemory(p unsafe.Pointer, size int64) {
	_ = unix.Madvise(unsafe.Slice((*byte)(p), size), unix.MADV_DONTNEED)
}

// adviseHuge is a wish: a kernel without huge pages refuses it.
func adviseHuge(p unsafe.Pointer, size int64) {
	_ = unix.Madvise(unsafe.Slice((*byte)(p), size), unix.MADV_HUGEPAGE)
}

func discardPage() int { return os.Getpagesize() }
