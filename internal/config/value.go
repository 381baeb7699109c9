package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// reason says why a line or value is refused, in Redis's words. Clients and the terminal see it
// unchanged.
type reason string

func (r reason) Error() string { return string(r) }

const (
	errArity    reason = "wrong number of arguments"
	errBool     reason = "argument must be 'yes' or 'no'"
	errInt      reason = "argument couldn't be parsed into an integer"
	errOctal    reason = "argument couldn't be parsed as an octal number"
	errMemory   reason = "argument must be a memory value"
	errPercent  reason = "argument must be a memory or percent value"
	errMaxPct   reason = "percentage argument must be less or equal to 100"
	errSave     reason = "Invalid save parameters"
	errManyBind reason = "Too many bind addresses specified."
	errBindWord reason = "Invalid bind address"
	errBadLine  reason = "Bad directive or wrong number of arguments"
	errQuotes   reason = "Unbalanced quotes in configuration line"
)

// value ties a field of Config to its syntax.
type value interface {
	syntax() string // for documentation: "yes|no", "0..65535"
	// parse sets the field from the words after the directive's name, or returns an error and
	// leaves the field alone. more says that an earlier line of the same load has set it; some
	// directives add to that.
	parse(c *Config, args []string, more bool) error
	canon(args []string) (string, error) // what exact would return after parse
	text(c *Config) string               // CONFIG GET
	exact(c *Config) string              // like text, but different values have different texts
	lines(c *Config, name string) []string
	keep(c *Config) (restore func())
}

// codec reads and shows values of type T.
type codec[T any] struct {
	syntax string
	read   func(args []string, old T, more bool) (T, error)
	show   func(T) string
	exact  func(T) string                  // the whole value where show hides a part; nil: show
	lines  func(name string, v T) []string // CONFIG REWRITE; nil: one line from exact
}

// field is a codec and the field of Config that it works on.
type field[T any] struct {
	codec codec[T]
	at    func(*Config) *T
}

func (f field[T]) syntax() string { return f.codec.syntax }

func (f field[T]) parse(c *Config, args []string, more bool) error {
	p := f.at(c)
	v, err := f.codec.read(args, *p, more)
	if err == nil {
		*p = v
	}
	return err
}

func (f field[T]) canon(args []string) (string, error) {
	var zero T
	v, err := f.codec.read(args, zero, false)
	return f.codec.whole(v), err
}

// whole returns a text that no other value has.
func (c codec[T]) whole(v T) string {
	if c.exact != nil {
		return c.exact(v)
	}
	return c.show(v)
}

func (f field[T]) text(c *Config) string { return f.codec.show(*f.at(c)) }

func (f field[T]) exact(c *Config) string { return f.codec.whole(*f.at(c)) }

func (f field[T]) lines(c *Config, name string) []string {
	v := *f.at(c)
	if f.codec.lines != nil {
		return f.codec.lines(name, v)
	}
	return []string{name + " " + f.codec.whole(v)}
}

func (f field[T]) keep(c *Config) func() {
	p := f.at(c)
	old := *p
	return func() { *p = old }
}

// held returns the place of a directive without a field: its value is only kept to be shown.
func held[T any](name string) func(*Config) *T {
	return func(c *Config) *T {
		p, ok := c.held[name].(*T)
		if !ok {
			p = new(T)
			c.held[name] = p
		}
		return p
	}
}

// one returns a reader that takes exactly one word.
func one[T any](read func(string) (T, error)) func([]string, T, bool) (T, error) {
	return func(args []string, old T, _ bool) (T, error) {
		if len(args) != 1 {
			return old, errArity
		}
		return read(args[0])
	}
}

func yesNo(at func(*Config) *bool) value {
	return field[bool]{codec[bool]{
		syntax: "yes|no",
		read: one(func(s string) (bool, error) {
			switch {
			case strings.EqualFold(s, "yes"):
				return true, nil
			case strings.EqualFold(s, "no"):
				return false, nil
			}
			return false, errBool
		}),
		show: func(v bool) string {
			if v {
				return "yes"
			}
			return "no"
		},
	}, at}
}

func errRange(lo, hi int64) error {
	return fmt.Errorf("argument must be between %d and %d inclusive", lo, hi)
}

// parseInt reads a decimal number in its canonical form: no "+", no leading zero, no space.
func parseInt(s string) (int64, error) {
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || strconv.FormatInt(v, 10) != s {
		return 0, errInt
	}
	return v, nil
}

func integer[T ~int | ~int64](lo, hi int64, at func(*Config) *T) value {
	return clamped(lo, hi, lo, hi, at)
}

// clamped takes an integer from lo to hi, and uses the nearest value from minv to maxv.
func clamped[T ~int | ~int64](lo, hi, minv, maxv int64, at func(*Config) *T) value {
	return field[T]{codec[T]{
		syntax: span(lo, hi),
		read: one(func(s string) (T, error) {
			v, err := parseInt(s)
			if err != nil {
				return 0, err
			}
			if v < lo || v > hi {
				return 0, errRange(lo, hi)
			}
			return T(min(max(v, minv), maxv)), nil
		}),
		show: func(v T) string { return strconv.FormatInt(int64(v), 10) },
	}, at}
}

func span(lo, hi int64) string {
	if hi == math.MaxInt64 || hi == math.MaxInt32 {
		return fmt.Sprintf("%d or more", lo)
	}
	return fmt.Sprintf("%d..%d", lo, hi)
}

func octal(hi int64, at func(*Config) *int) value {
	return field[int]{codec[int]{
		syntax: fmt.Sprintf("0..%o (octal)", hi),
		read: one(func(s string) (int, error) {
			v, err := strconv.ParseUint(s, 8, 63)
			if err != nil {
				return 0, errOctal
			}
			if int64(v) > hi {
				return 0, fmt.Errorf("argument must be between 0 and %o inclusive", hi)
			}
			return int(v), nil
		}),
		show: func(v int) string { return strconv.FormatInt(int64(v), 8) },
	}, at}
}

func errEnum(names []string) error {
	return reason("argument(s) must be one of the following: " + strings.Join(names, ", "))
}

// enum numbers its values from 0, in the order of names.
func enum[T ~int](names []string, at func(*Config) *T) value {
	return field[T]{codec[T]{
		syntax: strings.Join(names, "|"),
		read: func(args []string, old T, _ bool) (T, error) {
			if len(args) == 1 {
				if i := indexFold(names, args[0]); i >= 0 {
					return T(i), nil
				}
			}
			if len(args) > 1 {
				return old, errArity
			}
			return old, errEnum(names)
		},
		show: func(v T) string { return names[v] },
	}, at}
}

// choice does what enum does, for a value that is stored by its name.
func choice(names []string, at func(*Config) *string) value {
	return field[string]{codec[string]{
		syntax: strings.Join(names, "|"),
		read: one(func(s string) (string, error) {
			if i := indexFold(names, s); i >= 0 {
				return names[i], nil
			}
			return "", errEnum(names)
		}),
		show: func(v string) string { return v },
	}, at}
}

func indexFold(names []string, s string) int {
	for i, n := range names {
		if strings.EqualFold(n, s) {
			return i
		}
	}
	return -1
}

// str takes one word, up to a NUL if there is one: Redis takes it as a C string. Each check may
// refuse it.
func str(at func(*Config) *string, checks ...func(string) error) value {
	v := secret(at).(field[string])
	v.codec.read = one(func(s string) (string, error) {
		s, _, _ = strings.Cut(s, "\x00")
		for _, check := range checks {
			if err := check(s); err != nil {
				return "", err
			}
		}
		return s, nil
	})
	return v
}

// secret takes one word of any bytes.
func secret(at func(*Config) *string) value {
	return field[string]{codec[string]{
		syntax: "string",
		read:   one(func(s string) (string, error) { return s, nil }),
		show:   func(v string) string { return v },
		lines:  func(name string, v string) []string { return []string{name + " " + quote(v)} },
	}, at}
}

// quote writes s so that the configuration reader returns s.
func quote(s string) string {
	const hex = "0123456789abcdef"
	b := make([]byte, 0, len(s)+2)
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '\a':
			b = append(b, '\\', 'a')
		case c == '\b':
			b = append(b, '\\', 'b')
		case c >= ' ' && c < 0x7f:
			b = append(b, c)
		default:
			b = append(b, '\\', 'x', hex[c>>4], hex[c&15])
		}
	}
	return string(append(b, '"'))
}
