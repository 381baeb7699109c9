//go:build !linux

package arena

import "time"

// HugePagesOffered reports that there are none.
func HugePagesOffered() bool { return false }

// RefuseHugePages does nothing.
func RefuseHugePages() {}

// Collapse does nothing.
func (f Half) Collapse() (done bool, took time.Duration, err error) { return false, 0, nil }
