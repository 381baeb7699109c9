package persist

import (
	"bytes"
	"strconv"
	"strings"

	"godwit/internal/propagation"
)

// Where in the history of replication a log's data is
//
// A replica with a log says so at the end of each batch that it has logged, and so does a master in
// a cluster. Every server says it at its orderly end. These are annotations between commands, which
// all servers skip:
//
//	#REPL:81f29c123535ca28796aa4b380d4480a0ccf1204:3:177    history, database of its stream, offset
//	#REPL:214                                               offset; the rest as before in this file
//
// In a cluster the shard and its master's term stand in front of the offset, if they are known, in
// lines that name the history.
//
// An annotation says: all that this log has up to here is the data set as of that place. It counts
// when a start finds no command behind it. Then a replica asks its master for what follows, also
// after kill -9; without one it needs all anew. A line that is lost or cut off costs a full
// synchronization, but no line says more than the data has: the batch's commands stand before it,
// in the same write, and what a power failure leaves of a log is a beginning.
//
// Each file begins anew, with an annotation if the place is known. So a rewritten log, whose
// commands are in its base, says where it is before anything is written to it.

// placePrefix begins such an annotation.
const placePrefix = "#REPL:"

// appendPlace appends the annotation for a place behind that of another one in the same file.
func appendPlace(b []byte, p, before ReplPoint) []byte {
	b = append(b, placePrefix...)
	if before.Offset = p.Offset; p != before {
		b = append(append(b, p.ID...), ':')
		b = append(strconv.AppendInt(b, int64(p.DB), 10), ':')
		if p.Shard != "" {
			b = append(append(b, p.Shard...), ':')
			b = append(strconv.AppendUint(b, p.Term, 10), ':')
		}
	}
	b = strconv.AppendInt(b, p.Offset, 10)
	return append(b, "\r\n"...)
}

// notePlace appends an annotation to the buffer, unless it would say nothing new. It is called
// between units. end says that nothing will follow.
func (a *AOF) notePlace(end bool) {
	if a.o.Place == nil {
		return
	}
	p, ok := a.o.Place(end)
	if ok && (p != a.place || a.Offset() != a.placed) {
		if b := a.BeginUnit(0); b != nil {
			b.B = appendPlace(b.B, p, a.place)
			a.place = p
		}
	}
	a.placed = a.Offset()
}

// placeReader reads the annotations of one file.
type placeReader struct {
	known ReplPoint // that the last line named
	at    ReplPoint // the same if no command follows it, else none
}

// line takes an annotation. What makes no sense names no place.
func (r *placeReader) line(text []byte) {
	rest, ok := bytes.CutPrefix(text, []byte(placePrefix))
	if !ok {
		return
	}
	parts := strings.Split(strings.TrimRight(string(rest), "\r\n"), ":")
	p := r.known
	if n := len(parts) - 1; n > 0 {
		p = namedPlace(parts[:n])
		parts = parts[n:]
	}
	offset, err := strconv.ParseInt(parts[0], 10, 64)
	if p.Offset = offset; err != nil || offset < 0 || offset > propagation.MaxOffset || p.ID == "" {
		p = ReplPoint{}
	}
	r.known, r.at = p, p
}

// namedPlace returns the place that the fields in front of the offset name, none if they make no
// sense.
func namedPlace(fields []string) (p ReplPoint) {
	db, err := 0, error(nil)
	if len(fields) == 2 || len(fields) == 4 {
		p.ID = fields[0]
		db, err = strconv.Atoi(fields[1])
		p.DB = db
	}
	if len(p.ID) != replIDLen || err != nil || db < 0 {
		return ReplPoint{}
	}
	if len(fields) == 4 {
		p.Shard = fields[2]
		if p.Term, err = strconv.ParseUint(fields[3], 10, 64); err != nil ||
			len(p.Shard) != replIDLen {
			return ReplPoint{}
		}
	}
	return p
}

// command notes that a command follows.
func (r *placeReader) command() { r.at = ReplPoint{} }

// LoadedPlace returns where the data set is that Load has read, none if the log does not say that.
func (a *AOF) LoadedPlace() ReplPoint { return a.loaded }
