package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// streamLimits set what commands can set to the largest, and go on from there.
var streamLimits = map[string]string{
	"entries added": "XADD s 1-1 f v; XSETID s 5-0 ENTRIESADDED 9223372036854775807; " +
		"XADD s 6-0 f v; XADD s 7-0 f v",
	"entries read": "XADD s 1-1 f v; XADD s 2-1 f v; XADD s 3-1 f v; " +
		"XSETID s 5-0 ENTRIESADDED 9223372036854775807; " +
		"XGROUP CREATE s g 1-1 ENTRIESREAD 9223372036854775807; " +
		"XREADGROUP GROUP g c COUNT 1 STREAMS s >; XREADGROUP GROUP g c STREAMS s >",
	"more read than is delivered": "XADD s 1-1 f v; XADD s 2-1 f v; " +
		"XGROUP CREATE s g 1-1 ENTRIESREAD 2; XREADGROUP GROUP g c STREAMS s >",
	"deliveries": "XADD s 1-1 f v; XGROUP CREATE s g 0; XREADGROUP GROUP g c STREAMS s >; " +
		"XCLAIM s g c 0 1-1 RETRYCOUNT 9223372036854775807; XREADGROUP GROUP g c STREAMS s 0; " +
		"XCLAIM s g c 0 1-1; XAUTOCLAIM s g d 0 0; XREADGROUP GROUP g c CLAIM 0 STREAMS s >",
	"NACKed deliveries": "XADD s 1-1 f v; XGROUP CREATE s g 0; XREADGROUP GROUP g c STREAMS s >; " +
		"XNACK s g FATAL IDS 1 1-1; XREADGROUP GROUP g c CLAIM 0 STREAMS s >; " +
		"XNACK s g FAIL IDS 1 1-1 RETRYCOUNT 9223372036854775807; XAUTOCLAIM s g d 0 0",
	"times": "XADD s 1-1 f v; XGROUP CREATE s g 0; XREADGROUP GROUP g c STREAMS s >; " +
		"XCLAIM s g c 0 1-1 TIME 9223372036854775807; XCLAIM s g c 0 1-1 TIME -1; " +
		"XCLAIM s g d 0 1-1 IDLE 9223372036854775807; XCLAIM s g c 0 1-1 IDLE -9223372036854775808",
	"IDs": "XADD s 18446744073709551615-18446744073709551614 f v; " +
		"XADD s 18446744073709551615-18446744073709551615 f v; XADD s * f v; " +
		"XGROUP CREATE s g 18446744073709551615-18446744073709551614; " +
		"XREADGROUP GROUP g c STREAMS s >; XDEL s 18446744073709551615-18446744073709551615; " +
		"XTRIM s MINID 18446744073709551615-18446744073709551615",
	"last ID of a group": "XADD s 1-1 f v; " +
		"XGROUP CREATE s g 18446744073709551615-18446744073709551615 ENTRIESREAD 99; " +
		"XADD s 2-1 f v; XREADGROUP GROUP g c STREAMS s >; XSETID s 3-0 ENTRIESADDED 3",
	"deleted ID": "XADD s 1-1 f v; XADD s 5-1 f v; XDEL s 5-1; " +
		"XSETID s 5-1 ENTRIESADDED 9223372036854775807 MAXDELETEDID 5-1; XADD s 6-1 f v",
	"producers": "XADD s 1-1 f v; XSETID s 9999999999999-0; XCFGSET s IDMP-DURATION 86400 " +
		"IDMP-MAXSIZE 10000; XADD s IDMP p i * f v; XADD s IDMP p i * f v; XADD s IDMPAUTO q * f v",
	"nothing": "XGROUP CREATE s g 0 MKSTREAM; XGROUP CREATECONSUMER s g ''; XSETID s 0-0",
}

// TestStreamLimits checks that every stream that commands can make can be written and read.
func TestStreamLimits(t *testing.T) {
	for name, commands := range streamLimits {
		l := newLocal(t)
		l.lines(t, commands)
		dump := run(t, l, "DUMP", "s").Str
		require.NotEmpty(t, dump, name)
		require.Equal(t, "OK", run(t, l, "RESTORE", "t", "0", dump).Str, name)
		require.Equal(t, l.line(t, "XINFO STREAM s FULL COUNT 0"),
			l.line(t, "XINFO STREAM t FULL COUNT 0"), name)
	}
}
