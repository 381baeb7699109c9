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
	// Shard and Term say which master of a cluster the data set comes from: the 40 digits of the
	// shard, and the term in which that was its master. They are "" and 0 if that is not known.
	Shard string
	Term  uint64
}

// The auxiliary fields of a point, in Redis's order, and those of a cluster, which Redis skips.
const (
	auxReplDB     = "repl-stream-db"
	auxReplID     = "repl-id"
	auxReplOffset = "repl-offset"
	auxShard      = "cluster-shard"
	auxTerm       = "cluster-shard-term"
)

// replIDLen is the length of the name of a history, and of a shard, in characters.
const replIDLen = 40

// aux returns the fields that a snapshot says the point with.
func (p ReplPoint) aux() [][2]string {
	list := [][2]string{{auxReplDB, strconv.Itoa(p.DB)}, {auxReplID, p.ID},
		{auxReplOffset, strconv.FormatInt(p.Offset, 10)}}
	if p.Shard != "" {
		list = append(list, [2]string{auxShard, p.Shard},
			[2]string{auxTerm, strconv.FormatUint(p.Term, 10)})
	}
	return list
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
	case name == auxShard && len(text) == replIDLen:
		r.p.Shard = string(text)
	case name == auxTerm && ok:
		r.p.Term = uint64(n)
	}
}

// point returns the point, if all of it was told.
func (r *pointReader) point() ReplPoint {
	if !r.offset || r.p.ID == "" {
		return ReplPoint{}
	}
	return r.p
}
