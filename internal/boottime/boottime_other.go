//go:build !linux

package boottime

import "time"

var start = time.Now()

// Now returns the nanoseconds since the start of the process, which may stand still while the
// machine sleeps.
func Now() int64 { return int64(time.Since(start)) }
