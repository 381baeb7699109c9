package persist

import "strconv"

// stampPrefix begins an annotation between two commands of the append-only file. It says at which
// unix time in seconds the commands that follow were written.
const stampPrefix = "#TS:"

// appendTimestamp appends the annotation for a unix time in seconds.
func appendTimestamp(b []byte, sec int64) []byte {
	b = append(b, stampPrefix...)
	b = strconv.AppendInt(b, sec, 10)
	return append(b, "\r\n"...)
}
