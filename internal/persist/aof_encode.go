package persist

import "strconv"

// The append-only file is a stream of commands in the protocol, with annotations between them.

// stampPrefix begins the annotation that what follows was written at a time.
const stampPrefix = "#TS:"

func appendTimestamp(b []byte, sec int64) []byte {
	b = append(b, stampPrefix...)
	b = strconv.AppendInt(b, sec, 10)
	return append(b, "\r\n"...)
}

func appendBulk(b, arg []byte) []byte {
	b = appendHead(b, '$', len(arg))
	b = append(b, arg...)
	return append(b, '\r', '\n')
}

func appendHead(b []byte, mark byte, n int) []byte {
	if n < 10 {
		return append(b, mark, '0'+byte(n), '\r', '\n')
	}
	b = append(b, mark)
	b = strconv.AppendInt(b, int64(n), 10)
	return append(b, '\r', '\n')
}
