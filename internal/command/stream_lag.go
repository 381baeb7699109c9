package command

import "godwit/internal/stream"

// A group's lag is how many entries it has not been delivered yet. Where nothing was deleted among
// them, it follows from counts: the entries that the stream has ever got, less those that the group
// has read. Redis replies that it is not known where that does not hold, and so do we.

// hasTombstones reports whether an entry from the ID on may have been deleted. The stream, whose
// first entry the caller knows, knows no more than the largest that was.
func hasTombstones(s *stream.Stream, first, from stream.ID) bool {
	return s.Len() > 0 && !s.MaxDeleted.IsZero() && !s.MaxDeleted.Less(first) &&
		!s.MaxDeleted.Less(from)
}

// entriesUpTo returns how many entries the stream, whose first one the caller knows, has ever got
// up to the ID. It is stream.ReadUnknown if that cannot be told.
func entriesUpTo(s *stream.Stream, first, id stream.ID) int64 {
	added := int64(s.Added)
	switch {
	case added == 0:
		return 0
	case s.Len() == 0 && !s.LastID.Less(id):
		return added
	case !id.IsZero() && id.Less(s.MaxDeleted):
		return stream.ReadUnknown
	case id == s.LastID:
		return added
	case s.LastID.Less(id):
		return stream.ReadUnknown
	case !s.MaxDeleted.IsZero() && !s.MaxDeleted.Less(first):
		return stream.ReadUnknown
	case id.Less(first):
		return added - int64(s.Len())
	case id == first:
		return added - int64(s.Len()) + 1
	}
	return stream.ReadUnknown
}

// groupLag returns the number of entries that the group has not been delivered yet. ok is false if
// it cannot be told.
func groupLag(s *stream.Stream, g *stream.Group) (lag int64, ok bool) {
	first := s.First()
	switch {
	case s.Added == 0 || s.Len() == 0:
		return 0, true
	case g.LastID.Less(first) && s.MaxDeleted.Less(first):
		return int64(s.Len()), true
	case g.Read != stream.ReadUnknown && !hasTombstones(s, first, g.LastID):
		return int64(s.Added) - g.Read, true
	}
	read := entriesUpTo(s, first, g.LastID)
	return int64(s.Added) - read, read != stream.ReadUnknown
}
