package spec

import (
	"strings"

	"godwit/internal/listpack"
)

// Databases says which databases a command reaches. Access control asks for them.
type Databases uint8

// These say which databases a command reaches.
const (
	// SelectedDB is the database of the connection, if the command reaches data at all.
	SelectedDB    Databases = iota
	NamedDB                 // The one that the first argument names.
	TwoNamedDBs             // Those that the first two arguments name.
	SelectedAndTo           // The selected one and that of the second argument.
	SelectedAndDB           // The selected one and those behind the words DB.
	EveryDB                 // All.
)

// DBRef is a database that a call reaches, and the argument that names it. Pos is 0 if no argument
// does.
type DBRef struct{ DB, Pos int }

// DBRefs appends the databases that the call reaches to dst. Numbers that are not those of
// databases are left out: the handler refuses them. total is the number of databases.
func (c *Command) DBRefs(dst []DBRef, argv [][]byte, selected, total int) []DBRef {
	switch c.Databases {
	case NamedDB:
		return appendDBs(dst, argv, total, 1)
	case TwoNamedDBs:
		return appendDBs(dst, argv, total, 1, 2)
	case EveryDB:
		for db := range total {
			dst = append(dst, DBRef{DB: db})
		}
		return dst
	case SelectedAndTo:
		dst = appendDBs(dst, argv, total, 2)
	case SelectedAndDB:
		dst = appendDBs(dst, argv, total, behindDB(argv)...)
	}
	// EXEC names keys only in conditions.
	if c.data && (len(argv) > 1 || !c.Is(RunsQueue)) {
		dst = append(dst, DBRef{DB: selected})
	}
	return dst
}

// behindDB returns the positions of the arguments behind the words DB of a COPY. It returns none if
// the options are wrong.
func behindDB(argv [][]byte) (pos []int) {
	for i := 3; i < len(argv); i++ {
		switch {
		case strings.EqualFold(string(argv[i]), "replace"):
		case strings.EqualFold(string(argv[i]), "db") && i+1 < len(argv):
			i++
			pos = append(pos, i)
		default:
			return nil
		}
	}
	return pos
}

// appendDBs appends the databases that the arguments name, or nothing if one names none.
func appendDBs(dst []DBRef, argv [][]byte, total int, pos ...int) []DBRef {
	before := len(dst)
	for _, p := range pos {
		n, ok := listpack.ParseInt(argv[p])
		if !ok || n < 0 || n >= int64(total) {
			return dst[:before]
		}
		dst = append(dst, DBRef{DB: int(n), Pos: p})
	}
	return dst
}
