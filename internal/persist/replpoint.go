package persist

import (
	"strconv"

	"godwit/internal/propagation"
)

// ReplPoint is a place in a history of replication: the data set as of it.
type ReplPoint struct {
	ID     string // of the history; "" for no point
	Offset int64  // bytes of its stream that have been applied
	DB     int    // the database that the stream has selected there
}

// The auxiliary fields of a point, in Redis's order.
const (
	auxReplDB     = "repl-stream-db"
	auxReplID     = "repl-id"
	auxReplOffset = "repl-offset"
)

// replIDLen is the length of the name of a history in characters.
const replIDLen = 40

// aux returns the fields that a snapshot says the point with.
func (p ReplPoint) aux() [][2]string {
	return [][2]string{{auxReplDB, strconv.Itoa(p.DB)}, {auxReplID, p.ID},
		{auxReplOffset, strconv.FormatInt(p.Offset, 10)}}
}

// pointReader puts a point together from auxiliary fields.
type pointReader struct {
	p      ReplPoint
	offset bool // it was told
}

// field takes an auxiliary field, if it is of a point. What makes no sense is ignored.
func (r *pointReader) field(name string, text []byte) {
	n, err := strconv.ParseInt(string(text), 10, 64)
	ok := err == nil && n >= 0
	switch {
	case name == auxReplDB && ok && n <= 1<<30:
		r.p.DB = int(n)
	case name == auxReplOffset && ok && n <= propagation.MaxOffset:
		r.p.Offset, r.offset = n, true
	case name == auxReplID && len(text) == replIDLen:
		r.p.ID = string(text)
	}
}

// point returns the point, if all of it was told.
func (r *pointReader) point() ReplPoint {
	if !r.offset || r.p.ID == "" {
		return ReplPoint{}
	}
	return r.p
}
