// Package rounds looks after many things in turn, and leaves those alone that are at rest.
//
//	        next
//	          v
//	[ a  b  c  d  e  f ]    a set: Visit goes from the end to the front, and starts over
//	  to come  |visited
//
// A thing that is stirred belongs to the set. When Rest visits in a row have found nothing to look
// after, it leaves the set until it is stirred again. So the cost is that of the things in use,
// however many there are.
//
// Removing a thing moves the last one into its place. That one has been visited already in this
// round, or is new, so nothing that was there when a round began is left out of it. All operations
// are O(1) for each thing.
package rounds

// Rest is how many visits in a row must find nothing to do before a thing is left alone.
const Rest = 2

// Member is the state of a thing in a Set. The zero value is not in any.
type Member struct {
	at   int32 // position in the set plus 1; 0: not in it
	left int32 // visits until it is at rest
}

// Stirred reports whether the thing has been stirred since its last visit, so that there is no need
// to stir it again.
func (m *Member) Stirred() bool { return m.left >= Rest }

// Set is the things to look after. The zero value is empty.
type Set[T interface{ Round() *Member }] struct {
	list []T
	next int // everything from here on has been visited in this round
	size int // how many there were when the round began
}

// Len returns how many things the set holds.
func (s *Set[T]) Len() int { return len(s.list) }

// Share returns how many things a turn must visit so that a round takes so many turns.
func (s *Set[T]) Share(turns int) int {
	return max(s.size, len(s.list))/turns + 1
}

// Stir makes x be visited until it is at rest.
func (s *Set[T]) Stir(x T) {
	m := x.Round()
	if m.at == 0 {
		s.list = append(s.list, x)
		m.at = int32(len(s.list))
	}
	m.left = Rest
}

// Remove takes x out of the set, if it is there.
func (s *Set[T]) Remove(x T) {
	m := x.Round()
	if m.at == 0 {
		return
	}
	var none T
	last := len(s.list) - 1
	s.list[m.at-1] = s.list[last]
	s.list[m.at-1].Round().at = m.at
	s.list[last] = none
	s.list = s.list[:last]
	*m = Member{}
}

// Visit visits the next n things, each at most once. The function reports whether it has found
// nothing to look after. It may remove any thing from the set.
func (s *Set[T]) Visit(n int, visit func(x T) (resting bool)) {
	for n = min(n, len(s.list)); n > 0 && len(s.list) > 0; n-- {
		if s.next <= 0 {
			s.next, s.size = len(s.list), len(s.list)
		}
		s.next = min(s.next, len(s.list)) - 1
		x := s.list[s.next]
		m := x.Round()
		m.left--
		switch resting := visit(x); {
		case m.at == 0:
		case !resting:
			m.left = Rest
		case m.left <= 0:
			s.Remove(x)
		}
	}
}
