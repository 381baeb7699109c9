//go:build amd64 || arm64

package dict

import "unsafe"

// prefetch hints that the cache line at p will be read soon. It never faults.
//
//go:noescape
func prefetch(p unsafe.Pointer)
