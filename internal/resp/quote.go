package resp

import "strconv"

// AppendQuoted appends b in double quotes with Redis's escapes: \n \r \t \a \b \\ \", and \xHH for
// what is not printable ASCII.
func AppendQuoted(dst, b []byte) []byte {
	dst = append(dst, '"')
	for _, ch := range b {
		switch ch {
		case '\\', '"':
			dst = append(dst, '\\', ch)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\a':
			dst = append(dst, '\\', 'a')
		case '\b':
			dst = append(dst, '\\', 'b')
		default:
			if ch >= 0x20 && ch < 0x7f {
				dst = append(dst, ch)
				continue
			}
			dst = append(dst, '\\', 'x')
			if ch < 16 {
				dst = append(dst, '0')
			}
			dst = strconv.AppendUint(dst, uint64(ch), 16)
		}
	}
	return append(dst, '"')
}
