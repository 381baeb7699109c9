package command

import (
	"fmt"
	"strings"

	"godwit/internal/engine"
)

// sizeClasses writes the part of MEMORY MALLOC-STATS about blocks of up to 256 KiB: the number of
// blocks of each size, and how full their runs are.
func sizeClasses(b *strings.Builder, e *engine.Engine) {
	fmt.Fprintf(b, "%12s%12s%12s%8s%14s\n", "block size", "blocks", "room", "use", "unused bytes")
	for _, c := range e.KS.A.Classes() {
		fmt.Fprintf(b, "%12d%12d%12d%7.0f%%%14d\n",
			c.Size, c.Live, c.Room, 100*float64(c.Live)/float64(c.Room), c.Unused)
	}
}
