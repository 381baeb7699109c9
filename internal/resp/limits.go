package resp

// The default limits. A field of Limits that is 0 means these.
const (
	DefaultMaxBulk      = 512 << 20 // bytes; proto-max-bulk-len
	DefaultMaxMultibulk = 1<<31 - 1 // arguments of one command
	DefaultMaxInline    = 64 << 10  // bytes of an inline command or of a length line
)

// What a client may send before it has authenticated. It is enough for AUTH and HELLO, and too
// little to make the server hold much for a stranger.
const (
	unauthMultibulk = 10    // arguments
	unauthBulk      = 16384 // bytes
)

// Limits bounds one command. It is read at every length, so a changed field takes effect at the
// next argument. A zero number means the default.
type Limits struct {
	MaxBulk       int64 // bytes of one argument (proto-max-bulk-len)
	MaxMultibulk  int   // arguments of one command
	MaxInline     int   // bytes of an inline command or of a length line
	Authenticated bool  // false applies the small limits for strangers
}

func (l *Limits) maxBulk() int64 {
	if l.MaxBulk == 0 {
		return DefaultMaxBulk
	}
	return l.MaxBulk
}

func (l *Limits) maxMultibulk() int64 {
	if l.MaxMultibulk == 0 {
		return DefaultMaxMultibulk
	}
	return int64(l.MaxMultibulk)
}

func (l *Limits) maxInline() int {
	if l.MaxInline == 0 {
		return DefaultMaxInline
	}
	return l.MaxInline
}

// ProtocolError reports a request that cannot be parsed. The start of the next command cannot be
// found after it: send "-ERR " and the text, then close the connection.
type ProtocolError struct{ msg string }

// Error returns the text that follows "-ERR " on the wire.
func (e *ProtocolError) Error() string { return "Protocol error: " + e.msg }

// These are shared, so that a flood of bad requests does not become a flood of garbage.
var (
	// ErrInternal is for callers of the parser that have met a fault of the server.
	ErrInternal = &ProtocolError{"internal error, the server's log tells more"}

	errMultibulkLength = &ProtocolError{"invalid multibulk length"}
	errBulkLength      = &ProtocolError{"invalid bulk length"}
	errBigMultibulk    = &ProtocolError{"too big mbulk count string"}
	errBigBulk         = &ProtocolError{"too big bulk count string"}
	errBigInline       = &ProtocolError{"too big inline request"}
	errUnauthMultibulk = &ProtocolError{"unauthenticated multibulk length"}
	errUnauthBulk      = &ProtocolError{"unauthenticated bulk length"}
	errQuotes          = &ProtocolError{"unbalanced quotes in request"}
)

func errExpectedDollar(got byte) *ProtocolError {
	return &ProtocolError{"expected '$', got '" + string([]byte{got}) + "'"}
}
