//go:build amd64 || arm64 || riscv64

package arena

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// rawMmap and rawMunmap do not tell Go's scheduler. Probe calls them several times a second, and on
// an idle server each telling would wake the runtime's monitor thread. They do not block. Unmapping
// a big block takes as long as it has pages, and keeps the processor meanwhile.

func rawMmap(fd int, offset int64, addr unsafe.Pointer, length uintptr, prot, flags int) (
	unsafe.Pointer, error) {
	r, _, errno := syscall.RawSyscall6(unix.SYS_MMAP, uintptr(addr), length, uintptr(prot),
		uintptr(flags), uintptr(fd), uintptr(offset))
	if errno != 0 {
		return nil, errno
	}
	return *(*unsafe.Pointer)(unsafe.Pointer(&r)), nil // vet takes unsafe.Pointer(r) for a mistake
}

func rawMunmap(addr unsafe.Pointer, length uintptr) error {
	_, _, errno := syscall.RawSyscall(unix.SYS_MUNMAP, uintptr(addr), length, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
