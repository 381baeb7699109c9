package config

import (
	"strings"
)

// Flags are the properties of a directive.
type Flags uint8

// The flags of directives.
const (
	Immutable Flags = 1 << iota // not settable at run time
	Multi                       // takes any number of words
	Sensitive                   // never shown in SLOWLOG, MONITOR and logs
	Protected                   // settable at run time only where enable-protected-configs allows
	Volatile                    // names a file: setting the same value again reads it again
	Hidden                      // shown by CONFIG GET under its full name only
)

// Status says how far Godwit supports a directive.
type Status uint8

// The status of directives. A Later directive belongs to a part of Redis that Godwit does not have
// yet. Any value is kept and shown. A value other than the default is accepted with a warning,
// because a server without that part loses nothing by it. An Ignored directive means nothing in
// Godwit and is accepted with a warning.
const (
	Works Status = iota
	Later
	Ignored
)

// Directive is one row of the table.
type Directive struct {
	Name    string
	Alias   string // an older name that means the same
	Valkey  string // Valkey's name for it; CONFIG GET shows it only when asked by that name
	Default string // as in redis.conf, words separated by one space
	Flags   Flags
	Status  Status
	Doc     string // one sentence; if Ignored, the reason that the warning quotes
	value   value
}

// Syntax describes the valid values for people: "yes|no", "0..65535".
func (d *Directive) Syntax() string { return d.value.syntax() }

// Value returns what CONFIG GET shows for c.
func (d *Directive) Value(c *Config) string { return d.value.text(c) }

// defaultArgs returns the default as words.
func (d *Directive) defaultArgs() []string { return d.words(d.Default) }

// words splits a CONFIG SET argument into words if the directive takes several.
func (d *Directive) words(s string) []string {
	if d.Flags&Multi == 0 {
		return []string{s}
	}
	if s == "" {
		return nil
	}
	return strings.Split(s, " ")
}

// table holds every directive, in the order of CONFIG GET and of conf/godwit.conf. It never
// changes.
var table = join(networkTable(), tlsTable(), generalTable(), securityTable(), fileTable(),
	memoryTable(), defragTable(), observeTable(), encodingTable(), bloomTable(), aofTable(),
	replicationTable(), confirmTable(), clusterTable(),
	ignoredTable(), newerTable(), valkeyTable())

// index maps lower-case names and aliases to rows. It never changes.
var index = indexTable()

func join(parts ...[]Directive) []*Directive {
	var all []*Directive
	for _, p := range parts {
		for i := range p {
			all = append(all, &p[i])
		}
	}
	return all
}

func indexTable() map[string]*Directive {
	m := make(map[string]*Directive, 2*len(table))
	for _, d := range table {
		for _, n := range []string{d.Name, d.Alias, d.Valkey} {
			if n == "" {
				continue
			}
			if m[n] != nil {
				panic("config: two directives are called " + n)
			}
			m[n] = d
		}
	}
	return m
}

// Directives returns the table, for documentation and tests. Callers must not change it.
func Directives() []*Directive { return table }

// Lookup returns the directive with the given name or alias, in any case, or nil.
func Lookup(name string) *Directive { return index[strings.ToLower(name)] }

// obsolete names directives of old versions that Redis still accepts without effect.
var obsolete = []string{
	"list-max-ziplist-entries", "list-max-ziplist-value", "lua-replicate-commands",
}
