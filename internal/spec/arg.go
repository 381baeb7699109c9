package spec

import "strings"

// ArgType is the type of a documented argument.
type ArgType string

// These are the argument types of COMMAND DOCS.
const (
	ArgString    ArgType = "string"
	ArgInteger   ArgType = "integer"
	ArgDouble    ArgType = "double"
	ArgKey       ArgType = "key"
	ArgPattern   ArgType = "pattern"
	ArgUnixTime  ArgType = "unix-time"
	ArgPureToken ArgType = "pure-token"
	ArgOneOf     ArgType = "oneof"
	ArgBlock     ArgType = "block"
)

// Arg documents one argument. COMMAND DOCS, client hints and the oracle's generator read it.
type Arg struct {
	Name          string
	Type          ArgType
	KeySpec       int // The index of the key spec, for ArgKey and for patterns of keys.
	Token         string
	Summary       string
	Since         string
	Deprecated    string
	Display       string
	Optional      bool
	Multiple      bool
	MultipleToken bool
	Args          []Arg
}

// Key documents a key argument that key spec number spec finds.
func Key(name string, spec int) Arg { return Arg{Name: name, Type: ArgKey, KeySpec: spec} }

// Str documents a string argument.
func Str(name string) Arg { return Arg{Name: name, Type: ArgString} }

// Int documents an integer argument.
func Int(name string) Arg { return Arg{Name: name, Type: ArgInteger} }

// Dbl documents a floating-point argument.
func Dbl(name string) Arg { return Arg{Name: name, Type: ArgDouble} }

// Pattern documents a glob pattern.
func Pattern(name string) Arg { return Arg{Name: name, Type: ArgPattern} }

// UnixTime documents an absolute time.
func UnixTime(name string) Arg { return Arg{Name: name, Type: ArgUnixTime} }

// Tok documents a bare token. It is the name in upper case unless Tokened changes it.
func Tok(name string) Arg {
	return Arg{Name: name, Type: ArgPureToken, Token: strings.ToUpper(name)}
}

// OneOf documents a choice.
func OneOf(name string, args ...Arg) Arg { return Arg{Name: name, Type: ArgOneOf, Args: args} }

// Block documents arguments that belong together.
func Block(name string, args ...Arg) Arg { return Arg{Name: name, Type: ArgBlock, Args: args} }

// Opt marks the argument optional.
func (a Arg) Opt() Arg { a.Optional = true; return a }

// Many marks the argument repeatable.
func (a Arg) Many() Arg { a.Multiple = true; return a }

// ManyTokens marks the argument repeatable together with its token.
func (a Arg) ManyTokens() Arg { a.Multiple, a.MultipleToken = true, true; return a }

// Tokened sets the token that precedes the argument. A bare token is the argument itself.
func (a Arg) Tokened(token string) Arg { a.Token = token; return a }

// From sets the version that introduced the argument.
func (a Arg) From(version string) Arg { a.Since = version; return a }

// DeprecatedIn sets the version that deprecated the argument.
func (a Arg) DeprecatedIn(version string) Arg { a.Deprecated = version; return a }

// Shown sets the display text if it is not the name.
func (a Arg) Shown(text string) Arg { a.Display = text; return a }

// DisplayText returns what usage lines show for the argument: "" for one that is made of others.
func (a *Arg) DisplayText() string {
	switch {
	case a.Type == ArgOneOf || a.Type == ArgBlock:
		return ""
	case a.Display != "":
		return a.Display
	}
	return a.Name
}

// InSpec sets the key spec of the keys that the pattern matches.
func (a Arg) InSpec(spec int) Arg { a.KeySpec = spec; return a }

// These arguments belong to commands of several families.
var (
	orderArg = OneOf("order", Tok("asc"), Tok("desc")).Opt()
	limitArg = Block("limit", Int("offset"), Int("count")).Tokened("LIMIT").Opt()
)
