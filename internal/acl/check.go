package acl

import "strings"

// Reason is why a command is refused. A greater one came further.
type Reason uint8

// The reasons.
const (
	Allowed Reason = iota
	DeniedCommand
	DeniedKey
	DeniedChannel
)

// KeyUse is a key argument and what the command does with it; 0 is neither reading nor writing the data, as EXISTS does.
type KeyUse struct {
	Pos  int
	Mode Mode
}

// ChannelUse is a channel argument, or a pattern of channels.
type ChannelUse struct {
	Pos     int
	Pattern bool
}

// Call is a command to be checked: its number in the catalog and what the caller found in its arguments.
type Call struct {
	ID       int
	Argv     [][]byte
	Keys     []KeyUse
	Channels []ChannelUse
}

// Check reports whether one of the user's selectors allows the call, or the reason that came furthest and the argument that it is about.
func (u *User) Check(c *Call) (worst Reason, pos int) {
	worst = DeniedCommand
	for _, s := range u.selectors {
		reason, at := s.check(c)
		if reason == Allowed {
			return Allowed, 0
		}
		if reason > worst || reason == worst && at > pos {
			worst, pos = reason, at
		}
	}
	return worst, pos
}

func (s *Selector) check(c *Call) (Reason, int) {
	if !s.may(c.ID) && !s.cat.infos[c.ID].NoAuth && !s.mayFirstArg(c) {
		return DeniedCommand, 0
	}
	for _, k := range c.Keys {
		if !s.mayKey(c.Argv[k.Pos], k.Mode) {
			return DeniedKey, k.Pos
		}
	}
	for _, ch := range c.Channels {
		if !s.mayChannel(c.Argv[ch.Pos], ch.Pattern) {
			return DeniedChannel, ch.Pos
		}
	}
	return Allowed, 0
}

// mayFirstArg reports whether the command is allowed with its first argument.
func (s *Selector) mayFirstArg(c *Call) bool {
	if len(s.firstArgs) == 0 || len(c.Argv) < 2 {
		return false
	}
	for _, a := range s.firstArgs[c.ID] {
		if len(a) == len(c.Argv[1]) && strings.EqualFold(a, string(c.Argv[1])) {
			return true
		}
	}
	return false
}

// MayKey reports whether a selector of the user allows the mode for the key: redis.acl_check_cmd and client-side caching ask without a command.
func (u *User) MayKey(key []byte, mode Mode) bool {
	for _, s := range u.selectors {
		if s.mayKey(key, mode) {
			return true
		}
	}
	return false
}

// MayChannel reports whether a selector of the user allows the channel. Subscriptions of a user whose rules have changed are held against it.
func (u *User) MayChannel(name []byte, pattern bool) bool {
	for _, s := range u.selectors {
		if s.mayChannel(name, pattern) {
			return true
		}
	}
	return false
}
