//go:build amd64 || arm64

package arena

import "unsafe"

// PrefetchAt hints that the cache line at p will be read soon. It never faults.
//
//go:noescape
func PrefetchAt(p unsafe.Pointer)
