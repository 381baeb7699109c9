package config

import (
	"errors"
	"fmt"
	"strings"

	"godwit/internal/scan"
)

// Get answers CONFIG GET. It returns the name and value of every directive that matches a pattern,
// each once, in table order. A pattern without wildcards is shown as the caller wrote it.
func (c *Config) Get(patterns ...[]byte) [][2]string {
	var out [][2]string
	for _, d := range table {
		for _, name := range []string{d.Name, d.Alias, d.Valkey} {
			if name == "" {
				continue
			}
			for _, p := range patterns {
				if strings.ContainsAny(string(p), "[*?") {
					if d.Flags&Hidden != 0 || name == d.Valkey ||
						!scan.Match(p, []byte(name), true) {
						continue
					}
					out = append(out, [2]string{name, d.value.text(c)})
				} else {
					if !strings.EqualFold(string(p), name) {
						continue
					}
					out = append(out, [2]string{string(p), d.value.text(c)})
				}
				break
			}
		}
	}
	return out
}

// SetError reports why CONFIG SET was refused. Error returns the whole error line for the client.
type SetError struct {
	Name    string // the directive as the table spells it; empty if unknown
	Reason  string
	unknown bool
}

func (e *SetError) Error() string {
	switch {
	case e.unknown:
		return "ERR Unknown option or number of arguments for CONFIG SET - '" + e.Name + "'"
	case e.Name == "":
		return "ERR CONFIG SET failed - " + e.Reason
	}
	return fmt.Sprintf("ERR CONFIG SET failed (possibly related to argument '%s') - %s",
		e.Name, e.Reason)
}

// ApplyError is what the apply function of Set returns to name the directive that failed.
type ApplyError struct{ Name, Reason string }

func (e *ApplyError) Error() string { return e.Name + ": " + e.Reason }

// Apply acts on directives whose values have changed. If it fails, undo takes back what it has done
// so far; it is called when the old values are in place again. It may be nil.
type Apply func(names []string) (undo func(), err error)

// Set changes all the given directives or none. It checks and stores the pairs in order. Then it
// calls apply with the names of the directives whose value changed, or that must be read again
// although it did not; without any, apply is not called. If apply fails, Set restores the old
// values. The error is a *SetError.
//
// Protected directives can be set only if enable-protected-configs is yes; see SetFrom.
func (c *Config) Set(pairs [][2]string, apply Apply) error {
	return c.SetFrom(false, pairs, apply)
}

// SetFrom does what Set does, on behalf of a client. local says that the client is on this machine,
// which enable-protected-configs "local" admits.
func (c *Config) SetFrom(local bool, pairs [][2]string, apply Apply) error {
	ds, err := c.resolve(local, pairs)
	if err != nil {
		return err
	}
	var changed []string
	undo := make([]func(), 0, len(ds))
	back := func() {
		for _, f := range undo {
			f()
		}
	}
	for i, d := range ds {
		old := d.value.exact(c)
		undo = append(undo, d.value.keep(c))
		if err := d.value.parse(c, d.words(pairs[i][1]), false); err != nil {
			back()
			return &SetError{Name: strings.ToLower(pairs[i][0]), Reason: err.Error()}
		}
		if d.Flags&Volatile != 0 || d.value.exact(c) != old {
			changed = append(changed, d.Name)
		}
	}
	if len(changed) > 0 && apply != nil {
		if undo, err := apply(changed); err != nil {
			back()
			if undo != nil {
				undo()
			}
			return applyFailure(changed, err)
		}
	}
	for _, d := range ds {
		c.warnIgnored(d)
	}
	return nil
}

func applyFailure(changed []string, err error) error {
	if e := (*ApplyError)(nil); errors.As(err, &e) {
		return &SetError{Name: e.Name, Reason: e.Reason}
	}
	e := &SetError{Reason: err.Error()}
	if len(changed) == 1 {
		e.Name = changed[0]
	}
	return e
}

// resolve returns the directives of the pairs. It fails at the first pair that is unknown or must
// not be set.
func (c *Config) resolve(local bool, pairs [][2]string) ([]*Directive, error) {
	ds := make([]*Directive, len(pairs))
	for i, p := range pairs {
		d := Lookup(p[0])
		if d == nil {
			name, _, _ := strings.Cut(p[0], "\x00") // Redis takes the text as a C string
			return nil, &SetError{Name: name, unknown: true}
		}
		ds[i] = d
		switch {
		case d.Flags&Immutable != 0:
			return nil, &SetError{Name: strings.ToLower(p[0]), Reason: "can't set immutable config"}
		case d.Flags&Protected != 0 && !c.EnableProtectedConfigs.Allows(local):
			return nil, &SetError{Name: strings.ToLower(p[0]), Reason: "can't set protected config"}
		}
		for _, other := range pairs[:i] {
			// An alias and its name may both be given, as in Redis.
			if strings.EqualFold(other[0], p[0]) {
				return nil, &SetError{Name: strings.ToLower(p[0]), Reason: "duplicate parameter"}
			}
		}
	}
	return ds, nil
}

// warnIgnored records a warning if d has a value that does nothing. The default gives none, since
// the files that come with Redis name many directives at their defaults.
func (c *Config) warnIgnored(d *Directive) {
	if d.Status == Works || d.atDefault(c) {
		return
	}
	why := d.Doc
	if d.Status == Later {
		why = "it belongs to a part that Godwit does not have"
	}
	c.warnings = append(c.warnings,
		fmt.Sprintf("WARNING: the directive '%s' has no effect: %s", d.Name, why))
}
