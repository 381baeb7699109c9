package diff

import "strings"

// Reference is a server to compare with, of which more must be known than its documentation says.
type Reference string

// The references.
const (
	Redis8  Reference = "redis8"
	Valkey9 Reference = "valkey9"
	Redis7  Reference = "redis7"
)

// ReferenceOf returns which of the references a server is, by its own name and version.
func ReferenceOf(name, version string) Reference {
	switch {
	case name == "valkey":
		return Valkey9
	case strings.HasPrefix(version, "7.") || strings.HasPrefix(version, "6."):
		return Redis7
	}
	return Redis8
}

// forked is the last version of Redis that is part of Valkey. What Redis added later, a Valkey of
// whatever version does not have unless its own documentation says so.
const forked = "7.2.4"

// adapt returns the stream without commands that the reference deals with in a way of its own: each
// of them becomes a PING.
func (ref Reference) adapt(stream []Cmd) []Cmd {
	out := stream
	for at := range stream {
		if !ref.special(stream, at) {
			continue
		}
		if &out[0] == &stream[0] {
			out = append([]Cmd(nil), stream...)
		}
		c := &out[at]
		c.Args, c.Raw, c.Inline = cmdOf("PING").Args, false, false
	}
	return out
}

// special reports whether the command at the index must not be sent.
func (ref Reference) special(stream []Cmd, at int) bool {
	c := stream[at]
	switch name := c.Name(); {
	case authenticates(c) && inTransaction(stream, at):
		return true
	case ref == Redis7: // it looks at names beyond a NUL
		return (name == "client" || name == "hello") && c.hasNUL()
	case ref != Valkey9:
		return false
	case c.Raw: // it looks at the line breaks behind arguments
		return true
	case name == "multi" || name == "watch": // in a transaction, they make it fail
		return inTransaction(stream, at)
	case name == "config": // what is a miss depends on when numfields is looked at
		return c.has("KEAmn")
	}
	return false
}

// authenticates reports whether the command may be answered that a password is wrong. Redis 8.0.6
// loses that reply if there are others before it, be it in a pipeline or in a transaction. So these
// commands are sent alone, and not in transactions.
func authenticates(c Cmd) bool { return c.Name() == "auth" || c.Name() == "hello" }

// inTransaction reports whether the command at the index would be queued if every MULTI before it
// was accepted.
func inTransaction(stream []Cmd, at int) bool {
	for i := at - 1; i >= 0; i-- {
		c := stream[i]
		if c.Client != stream[at].Client || c.Raw {
			continue
		}
		switch c.Name() {
		case "multi":
			return true
		case "exec", "discard", "reset", "quit":
			return false
		}
		if c.Close {
			return false
		}
	}
	return false
}
