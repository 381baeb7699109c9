package acl

import (
	"slices"
	"strings"

	"godwit/internal/spec"
)

// Reason says why a command is refused. The greater of two has passed more of the checks.
type Reason uint8

// The reasons.
const (
	Allowed Reason = iota
	DeniedDatabase
	DeniedCommand
	DeniedKey
	DeniedChannel
	DeniedAuth // a wrong password or name; Check never returns it
	DeniedCert // a certificate that names no user; likewise
)

// String returns the reason as ACL LOG names it.
func (r Reason) String() string {
	return [...]string{"allowed", "database", "command", "key", "channel", "auth", "tls-cert"}[r]
}

// KeyUse is a key argument and what the command does with it. A mode of 0 neither reads nor writes
// the data, as EXISTS does.
type KeyUse struct {
	Pos  int
	Mode Mode
}

// ModeOf returns what a user needs to be allowed for the access. Whether a key exists, or its type,
// is told to everybody who may name it.
func ModeOf(a spec.Access) (m Mode) {
	if a&spec.AccessFlag != 0 {
		m |= Read
	}
	if a&(spec.Insert|spec.Update|spec.Delete) != 0 {
		m |= Write
	}
	return m
}

// ChannelUse is a channel argument, or a pattern of channels.
type ChannelUse struct {
	Pos     int
	Pattern bool
}

// Call is a command to be checked, and what the caller found in its arguments.
type Call struct {
	Cmd       *spec.Command
	Argv      [][]byte
	Databases []spec.DBRef
	Keys      []KeyUse
	Channels  []ChannelUse
}

// Check reports whether one of the user's selectors allows the call. If not, it returns the reason
// that came furthest and the argument concerned.
func (u *User) Check(c *Call) (worst Reason, pos int) {
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
	for _, d := range c.Databases {
		if !s.mayDatabase(d.DB) {
			return DeniedDatabase, d.Pos
		}
	}
	if !s.may(c.Cmd.ID()) && !c.Cmd.Is(spec.NoAuth) && !s.mayFirstArg(c) {
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
	for _, a := range s.firstArgs[c.Cmd.ID()] {
		if len(a) == len(c.Argv[1]) && strings.EqualFold(a, string(c.Argv[1])) {
			return true
		}
	}
	return false
}

// Unrestricted reports whether one selector allows everything, so that no check is needed.
func (u *User) Unrestricted() bool { return u.unrestricted }

// ChecksKeys reports whether Check needs the keys of a call.
func (u *User) ChecksKeys() bool {
	return slices.ContainsFunc(u.selectors, func(s *Selector) bool { return !s.allKeys })
}

// ChecksDatabases reports whether Check needs the databases of a call.
func (u *User) ChecksDatabases() bool {
	return slices.ContainsFunc(u.selectors, func(s *Selector) bool { return !s.allDatabases })
}

// ChecksChannels reports whether Check needs the channels of a call.
func (u *User) ChecksChannels() bool {
	return slices.ContainsFunc(u.selectors, func(s *Selector) bool { return !s.allChannels })
}

// MayWithAllKeys reports whether a selector that allows the call allows the mode for every key. It
// is for commands that read keys their arguments do not name.
func (u *User) MayWithAllKeys(c *Call, mode Mode) bool {
	return slices.ContainsFunc(u.selectors, func(s *Selector) bool {
		if !s.allKeys && !slices.ContainsFunc(s.keys, func(p Pattern) bool {
			return string(p.Glob) == "*" && p.Mode&mode == mode
		}) {
			return false
		}
		reason, _ := s.check(c)
		return reason == Allowed
	})
}

// MayChannel reports whether a selector of the user allows the channel. When a user's rules change,
// its subscriptions are checked with it.
func (u *User) MayChannel(name []byte, pattern bool) bool {
	for _, s := range u.selectors {
		if s.mayChannel(name, pattern) {
			return true
		}
	}
	return false
}
