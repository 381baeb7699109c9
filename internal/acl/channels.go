package acl

import "slices"

// NamesChannels reports whether a rule of the user allows any channel. A user that is nil has none.
func (u *User) NamesChannels() bool {
	return u != nil && slices.ContainsFunc(u.selectors, func(s *Selector) bool {
		return s.allChannels || len(s.channels) > 0
	})
}
