package config

import (
	"strings"
)

// Flags are properties of a directive.
type Flags uint8

// The flags of directives.
const (
	Immutable Flags = 1 << iota // not settable at run time
	Multi                       // takes any number of words
	Sensitive                   // never shown in SLOWLOG, MONITOR and logs
	Protected                   // settable at run time only where enable-protected-configs allows
	Volatile                    // names a file: setting the same value again reads it again
	Hidden                      // shown by CONFIG GET under its full name only
	Refused                     // Later, and any value but the default promises what is not there
)

// Status says what Godwit makes of a directive.
type Status uint8

// The standing of directives. A Later directive belongs to a part of Redis that Godwit does not
// have yet: any value is kept and shown, and one that is not the default is accepted with a
// warning, because it promises nothing to a standalone server. Those with the flag Refused do, and
// are not. An Ignored one has no meaning in Godwit: it is accepted with a warning too.
const (
	Works Status = iota
	Later
	Ignored
)

// Directive is one row of the table.
type Directive struct {
	Name    string
	Alias   string // an older name that means the same
	Valkey  string // Valkey's name for it, which CONFIG GET shows only when it is asked for
	Default string // as in redis.conf; words are separated by one space
	Flags   Flags
	Status  Status
	Doc     string // one sentence; for Ignored ones the reason, which the warning quotes
	value   value
}

// Kind is the shape of the directive's value.
func (d *Directive) Kind() Kind { return d.value.kind() }

// Syntax describes the values for people: "yes|no", "0..65535".
func (d *Directive) Syntax() string { return d.value.syntax() }

// Value is what CONFIG GET shows for c.
func (d *Directive) Value(c *Config) string { return d.value.text(c) }

// defaultArgs is the default as words.
func (d *Directive) defaultArgs() []string { return d.words(d.Default) }

// words cuts a CONFIG SET argument the way the directive wants it.
func (d *Directive) words(s string) []string {
	if d.Flags&Multi == 0 {
		return []string{s}
	}
	if s == "" {
		return nil
	}
	return strings.Split(s, " ")
}

// refusal says why a value that the syntax allows cannot be had yet. It must be asked before
// the value is stored.
func (d *Directive) refusal(args []string) error {
	if d.Flags&Refused == 0 {
		return nil
	}
	want, err := d.value.canon(args)
	if err != nil {
		return nil // parse will say so
	}
	if def, _ := d.value.canon(d.defaultArgs()); want == def {
		return nil
	}
	return laterError(d.Name + " " + want)
}

// laterError is the reason for refusing what promises a part that is not there.
type laterError string

func (e laterError) Error() string {
	return string(e) + " is not supported: Godwit runs as a standalone primary without modules"
}

// table holds every directive in the order of CONFIG GET and of conf/godwit.conf. It is never
// changed.
var table = join(networkTable(), tlsTable(), generalTable(), securityTable(), fileTable(),
	memoryTable(), observeTable(), encodingTable(), bloomTable(), aofTable(), replicationTable(), clusterTable(),
	ignoredTable(), newerTable(), valkeyTable())

// index finds rows by lower-case name or alias. It is never changed.
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

// Directives returns the table, for documentation and tests; it must not be changed.
func Directives() []*Directive { return table }

// Lookup finds a directive by name or alias in any case; nil when there is none.
func Lookup(name string) *Directive { return index[strings.ToLower(name)] }

// obsolete names lines that Redis still reads, for files of old versions, and that mean nothing.
var obsolete = []string{"list-max-ziplist-entries", "list-max-ziplist-value", "lua-replicate-commands"}
