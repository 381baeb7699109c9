package arena

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system's calls. Tests replace them.
var (
	mmap   = rawMmap
	munmap = rawMunmap
	mremap = unix.MremapPtr
)

// mapMemory maps size bytes that read as zero. If that is a multiple of a huge page, the mapping
// begins where one may, if the addresses below are free. Linux sees to that itself since 6.7.
// Before, it puts each mapping below the last: once one is aligned, the next ones are too.
func mapMemory(size int64) (unsafe.Pointer, error) {
	p, err := mapNear(nil, size)
	if err != nil || size%halfBytes != 0 || aligned(p) == p || tryUnmap(p, size) != nil {
		return p, err
	}
	return mapNear(unsafe.Add(aligned(p), -halfBytes), size)
}

// mapNear maps at the address if the system can, or anywhere.
func mapNear(p unsafe.Pointer, size int64) (unsafe.Pointer, error) {
	const prot = unix.PROT_READ | unix.PROT_WRITE
	return mmap(-1, 0, p, uintptr(size), prot, unix.MAP_PRIVATE|unix.MAP_ANON)
}

// tryUnmap unmaps a range that was mapped. It fails only if there are too many mappings to cut the
// range out of its neighbours. Any other error is a broken invariant.
func tryUnmap(p unsafe.Pointer, size int64) error {
	err := munmap(p, uintptr(size))
	if err != nil && err != unix.ENOMEM {
		panic("arena: munmap: " + err.Error())
	}
	return err
}

// mapReserve maps memory that will not be touched. Writable and unwritable neighbours stay separate
// mappings, so that giving one back makes room for another.
func mapReserve(size int64, writable bool) (unsafe.Pointer, error) {
	prot := unix.PROT_READ
	if writable {
		prot |= unix.PROT_WRITE
	}
	return mmap(-1, 0, nil, uintptr(size), prot, unix.MAP_PRIVATE|unix.MAP_ANON)
}

// mapTrial maps memory that is given back at once, to see whether it is available.
func mapTrial(size int64) (unsafe.Pointer, error) { return mapNear(nil, size) }

func remapMemory(p unsafe.Pointer, from, to int64) (unsafe.Pointer, error) {
	return mremap(p, uintptr(from), nil, uintptr(to), unix.MREMAP_MAYMOVE)
}

// discardMemory gives the pages back. They read as zero when touched again. A failure (locked
// memory) does no harm, because nobody relies on the contents.
func discardMemory(p unsafe.Pointer, size int64) {
	_ = unix.Madvise(unsafe.Slice((*byte)(p), size), unix.MADV_DONTNEED)
}

func discardPage() int { return os.Getpagesize() }
