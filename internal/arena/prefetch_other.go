//go:build !amd64 && !arm64

package arena

import "unsafe"

// PrefetchAt does nothing here.
func PrefetchAt(unsafe.Pointer) {}
