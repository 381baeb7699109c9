//go:build !amd64 && !arm64 && !riscv64

package arena

import "golang.org/x/sys/unix"

// Not every architecture takes mmap's arguments as they are.
var (
	rawMmap   = unix.MmapPtr
	rawMunmap = unix.MunmapPtr
)
