package acl

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
)

// setDatabases replaces the allowed databases by those of a list, "0,2". Their numbers may be
// greater than that of any database that there is now.
func (s *Selector) setDatabases(list string) error {
	var ids []int
	for _, word := range strings.Split(list, ",") {
		n, err := strconv.ParseInt(word, 10, 64)
		switch {
		case errors.Is(err, strconv.ErrRange), err == nil && (n < 0 || n > math.MaxInt32):
			return ErrDatabase
		case err != nil:
			return ErrSyntax
		}
		ids = append(ids, int(n))
	}
	slices.Sort(ids)
	s.allDatabases, s.databases = false, slices.Compact(ids)
	return nil
}

// mayDatabase reports whether the database is allowed.
func (s *Selector) mayDatabase(id int) bool {
	if s.allDatabases {
		return true
	}
	_, ok := slices.BinarySearch(s.databases, id)
	return ok
}

// Databases describes the database permissions as a rule, "" for none.
func (s *Selector) Databases() string {
	if s.allDatabases {
		return "alldbs"
	}
	if len(s.databases) == 0 {
		return ""
	}
	list := []byte("db=")
	for i, id := range s.databases {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendInt(list, int64(id), 10)
	}
	return string(list)
}
