package acl

import (
	"bytes"
	"slices"
	"strings"

	"godwit/internal/scan"
	"godwit/internal/spec"
)

// Mode says what may be done, or is done, with a key.
type Mode uint8

// The modes.
const (
	Read Mode = 1 << iota
	Write
)

// Pattern allows the mode for keys that match the glob.
type Pattern struct {
	Glob []byte
	Mode Mode
}

// Selector is one set of permissions. Rules change it, Check reads it.
type Selector struct {
	table *spec.Table

	allCommands, allKeys, allChannels, allDatabases bool

	commands []uint64 // a bit for each command
	// firstArgs lists the allowed first arguments, in lower case, of commands without their bit.
	firstArgs map[int][]string
	// rules made the bits after +@all or -@all: "+get", "-@write", "+select|0".
	rules    []string
	keys     []Pattern
	channels [][]byte
	// databases are the numbers of those that are allowed, in order.
	databases []int
}

func newSelector(table *spec.Table) *Selector {
	return &Selector{table: table, allDatabases: true,
		commands: make([]uint64, (len(table.All())+63)/64)}
}

func (s *Selector) clone() *Selector {
	c := *s
	c.commands, c.rules = slices.Clone(s.commands), slices.Clone(s.rules)
	c.keys, c.channels = slices.Clone(s.keys), slices.Clone(s.channels)
	c.firstArgs = nil
	for id, args := range s.firstArgs {
		c.addFirstArgs(id, args...)
	}
	return &c
}

func (s *Selector) addFirstArgs(id int, args ...string) {
	if s.firstArgs == nil {
		s.firstArgs = map[int][]string{}
	}
	for _, a := range args {
		if !slices.Contains(s.firstArgs[id], a) {
			s.firstArgs[id] = append(s.firstArgs[id], a)
		}
	}
}

// may reports whether the command's bit is set.
func (s *Selector) may(id int) bool { return s.commands[id/64]>>(id%64)&1 != 0 }

// setBit allows or forbids a command with all of its subcommands.
func (s *Selector) setBit(id int, on bool) {
	if on {
		s.commands[id/64] |= 1 << (id % 64)
	} else {
		s.commands[id/64] &^= 1 << (id % 64)
	}
	delete(s.firstArgs, id)
	for _, sub := range s.table.All()[id].Sub {
		s.setBit(sub.ID(), on)
	}
}

// setAll allows or forbids every command.
func (s *Selector) setAll(on bool) {
	var word uint64
	if on {
		word = ^word
	}
	for i := range s.commands {
		s.commands[i] = word
	}
	s.allCommands, s.firstArgs, s.rules = on, nil, nil
}

// allowsAll reports whether everything is allowed.
func (s *Selector) allowsAll() bool {
	return s.allCommands && s.allKeys && s.allChannels && s.allDatabases &&
		!slices.ContainsFunc(s.commands, func(w uint64) bool { return w != ^uint64(0) })
}

// apply changes the selector by one rule.
func (s *Selector) apply(rule string) error {
	switch low := strings.ToLower(rule); low {
	case "allkeys", "~*":
		s.allKeys, s.keys = true, nil
	case "resetkeys":
		s.allKeys, s.keys = false, nil
	case "allchannels", "&*":
		s.allChannels, s.channels = true, nil
	case "resetchannels":
		s.allChannels, s.channels = false, nil
	case "alldbs":
		s.allDatabases, s.databases = true, nil
	case "resetdbs":
		s.allDatabases, s.databases = false, nil
	case "allcommands", "+@all":
		s.setAll(true)
	case "nocommands", "-@all":
		s.setAll(false)
	default:
		return s.applyPrefixed(rule, low)
	}
	return nil
}

func (s *Selector) applyPrefixed(rule, low string) error {
	if rule == "" {
		return ErrSyntax
	}
	switch rule[0] {
	case '~', '%':
		return s.addKeys(rule)
	case '&':
		return s.addChannels(rule[1:])
	case 'd', 'D':
		if list, ok := strings.CutPrefix(low, "db="); ok {
			return s.setDatabases(list)
		}
	case '+', '-':
		err := s.setBits(low)
		if err == nil {
			s.remember(low)
		}
		return err
	}
	return ErrSyntax
}

// spaced reports whether a pattern has characters that are lost when it is written down and read.
func spaced(pattern string) bool { return strings.ContainsAny(pattern, " \t\n\v\f\r\x00") }

func (s *Selector) addKeys(rule string) error {
	if s.allKeys {
		return ErrKeysAfterAll
	}
	mode, glob := Read|Write, rule[1:]
	if rule[0] == '%' {
		flags, g, _ := strings.Cut(rule[1:], "~") // "%R" is "%R~", as in Redis
		if mode, glob = parseMode(flags), g; mode == 0 {
			return ErrSyntax
		}
	}
	if spaced(glob) {
		return ErrSyntax
	}
	for i := range s.keys {
		if string(s.keys[i].Glob) == glob {
			s.keys[i].Mode |= mode
			return nil
		}
	}
	s.keys = append(s.keys, Pattern{[]byte(glob), mode})
	return nil
}

// parseMode reads R, W or both, each once. For anything else it returns 0.
func parseMode(flags string) (m Mode) {
	for _, ch := range strings.ToUpper(flags) {
		switch {
		case ch == 'R' && m&Read == 0:
			m |= Read
		case ch == 'W' && m&Write == 0:
			m |= Write
		default:
			return 0
		}
	}
	return m
}

func (s *Selector) addChannels(glob string) error {
	if s.allChannels {
		return ErrChanAfterAll
	}
	if spaced(glob) {
		return ErrSyntax
	}
	if !slices.ContainsFunc(s.channels, func(c []byte) bool { return string(c) == glob }) {
		s.channels = append(s.channels, []byte(glob))
	}
	return nil
}

// setBits applies a rule about commands, in lower case, to the bits and first arguments.
func (s *Selector) setBits(rule string) error {
	on, name := rule[0] == '+', rule[1:]
	if category, ok := strings.CutPrefix(name, "@"); ok {
		cmds, ok := s.table.InCategory(category)
		if !ok {
			return ErrUnknown
		}
		for _, c := range cmds {
			s.setBit(c.ID(), on)
		}
		return nil
	}
	if c := s.table.Named(name); c != nil {
		s.setBit(c.ID(), on)
		return nil
	}
	i := strings.LastIndexByte(name, '|')
	if !on || i < 0 {
		return ErrUnknown
	}
	c := s.table.Named(name[:i])
	switch {
	case c == nil:
		return ErrUnknown
	case strings.Contains(name[:i], "|"):
		return ErrFirstArg
	case name[i+1:] == "" || spaced(name[i+1:]):
		return ErrSyntax
	case len(c.Sub) > 0:
		return ErrUnknown // the command has subcommands, but not this one
	}
	if !s.may(c.ID()) {
		s.addFirstArgs(c.ID(), name[i+1:])
	}
	return nil
}

// remember records a rule that has been applied. It replaces the rules that it makes void: the same
// one, and those about the command's subcommands.
func (s *Selector) remember(rule string) {
	name := rule[1:]
	s.rules = slices.DeleteFunc(s.rules, func(r string) bool {
		r = r[1:]
		return r == name || strings.HasPrefix(r, name) && r[len(name)] == '|'
	})
	s.rules = append(s.rules, rule)
}

// mayKey reports whether a pattern allows all of mode for the key.
func (s *Selector) mayKey(key []byte, mode Mode) bool {
	if s.allKeys {
		return true
	}
	for i := range s.keys {
		if p := &s.keys[i]; p.Mode&mode == mode && scan.Match(p.Glob, key, false) {
			return true
		}
	}
	return false
}

// mayChannel reports whether a pattern allows the channel. A pattern of channels is allowed only if
// a rule has the same text, since nothing tells what else it may match.
func (s *Selector) mayChannel(name []byte, pattern bool) bool {
	if s.allChannels {
		return true
	}
	for _, glob := range s.channels {
		if pattern && bytes.Equal(glob, name) || !pattern && scan.Match(glob, name, false) {
			return true
		}
	}
	return false
}

// Commands describes the command permissions as rules.
func (s *Selector) Commands() string {
	all := "-@all"
	if s.allCommands {
		all = "+@all"
	}
	return strings.Join(append([]string{all}, s.rules...), " ")
}

// Keys describes the key permissions as rules, "" for none.
func (s *Selector) Keys() string {
	if s.allKeys {
		return "~*"
	}
	out := make([]string, len(s.keys))
	for i, p := range s.keys {
		out[i] = [...]string{Read: "%R~", Write: "%W~", Read | Write: "~"}[p.Mode] + string(p.Glob)
	}
	return strings.Join(out, " ")
}

// Channels describes the channel permissions as rules, "" for none.
func (s *Selector) Channels() string {
	if s.allChannels {
		return "&*"
	}
	out := make([]string, len(s.channels))
	for i, c := range s.channels {
		out[i] = "&" + string(c)
	}
	return strings.Join(out, " ")
}

// describe describes the whole selector as rules.
func (s *Selector) describe() string {
	var parts []string
	if k := s.Keys(); k != "" {
		parts = append(parts, k)
	}
	if !s.allChannels {
		parts = append(parts, "resetchannels")
	}
	if c := s.Channels(); c != "" {
		parts = append(parts, c)
	}
	switch d := s.Databases(); d {
	case "alldbs":
	case "":
		parts = append(parts, "resetdbs")
	default:
		parts = append(parts, d)
	}
	return strings.Join(append(parts, s.Commands()), " ")
}
