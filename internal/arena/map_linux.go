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

// unmapMemory cannot fail for a range that was mapped: an error is a broken invariant.
func unmapMemory(p unsafe.Pointer, size int64) {
	if err := unix.MunmapPtr(p, uintptr(size)); err != nil {
		panic("arena: munmap: " + err.Error())
	}
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
