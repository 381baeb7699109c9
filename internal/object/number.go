package object

import (
	"strconv"

	"godwit/internal/listpack"
)

// ParseInt reads a canonical decimal 64-bit integer; see listpack.ParseInt.
func ParseInt(b []byte) (int64, bool) { return listpack.ParseInt(b) }

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

func intLen(n int64) int { return listpack.IntLen(n) }
