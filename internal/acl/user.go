package acl

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"strings"

	"godwit/internal/spec"
)

// User is one user. NewUser makes it; the zero value is not valid.
type User struct {
	Name string

	table     *spec.Table
	enabled   bool
	noPass    bool
	skipCheck bool     // the flag about RESTORE payloads, which has no effect: they are checked
	passwords []string // SHA-256, 64 hexadecimal digits each
	selectors []*Selector

	allChannels  bool // acl-pubsub-default, for reset
	unrestricted bool // one selector allows everything
}

// NewUser returns a user that is off and may do nothing. allChannels is acl-pubsub-default.
func NewUser(name string, table *spec.Table, allChannels bool) *User {
	u := &User{Name: name, table: table, allChannels: allChannels}
	u.reset()
	return u
}

// Clone returns a deep copy. Rules are tried on a copy, so that all of them apply or none.
func (u *User) Clone() *User {
	c := *u
	c.passwords = slices.Clone(u.passwords)
	c.selectors = make([]*Selector, len(u.selectors))
	for i, s := range u.selectors {
		c.selectors[i] = s.clone()
	}
	return &c
}

func (u *User) reset() {
	s := newSelector(u.table)
	s.allChannels = u.allChannels
	u.enabled, u.noPass, u.skipCheck = false, false, false
	u.passwords, u.selectors = nil, []*Selector{s}
}

// Enabled reports whether the user may log in.
func (u *User) Enabled() bool { return u.enabled }

// NoPass reports whether any password is accepted.
func (u *User) NoPass() bool { return u.noPass }

// Passwords returns the hashes of the passwords.
func (u *User) Passwords() []string { return u.passwords }

// Root returns the first selector.
func (u *User) Root() *Selector { return u.selectors[0] }

// Others returns the selectors after the first.
func (u *User) Others() []*Selector { return u.selectors[1:] }

// HashPassword returns the form in which passwords are kept.
func HashPassword(password []byte) string {
	h := sha256.Sum256(password)
	return hex.EncodeToString(h[:])
}

// Authenticate reports whether the user may log in with the password. The time that it takes does
// not depend on how much of the password is right.
func (u *User) Authenticate(password []byte) bool {
	if !u.enabled {
		return false
	}
	if u.noPass {
		return true
	}
	hash := []byte(HashPassword(password))
	found := 0
	for _, p := range u.passwords {
		found |= subtle.ConstantTimeCompare(hash, []byte(p))
	}
	return found == 1
}

// Apply changes the user by one rule. An error is a RuleError.
func (u *User) Apply(rule string) error {
	err := u.apply(rule)
	u.unrestricted = slices.ContainsFunc(u.selectors, (*Selector).allowsAll)
	return err
}

func (u *User) apply(rule string) error {
	switch strings.ToLower(rule) {
	case "on":
		u.enabled = true
	case "off":
		u.enabled = false
	case "nopass":
		u.noPass, u.passwords = true, nil
	case "resetpass":
		u.noPass, u.passwords = false, nil
	case "skip-sanitize-payload":
		u.skipCheck = true
	case "sanitize-payload":
		u.skipCheck = false
	case "reset":
		u.reset()
	case "clearselectors":
		u.selectors = u.selectors[:1]
	case "": // an empty argument of its own has no effect
	default:
		return u.applyPrefixed(rule)
	}
	return nil
}

func (u *User) applyPrefixed(rule string) error {
	switch rule[0] {
	case '>':
		u.addPassword(HashPassword([]byte(rule[1:])))
	case '#':
		if !isHash(rule[1:]) {
			return ErrBadHash
		}
		u.addPassword(rule[1:])
	case '<':
		return u.removePassword(HashPassword([]byte(rule[1:])))
	case '!':
		if !isHash(rule[1:]) {
			return ErrBadHash
		}
		return u.removePassword(rule[1:])
	case '(':
		return u.addSelector(rule)
	default:
		return u.Root().apply(rule)
	}
	return nil
}

func isHash(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

func (u *User) addPassword(hash string) {
	u.noPass = false
	if !slices.Contains(u.passwords, hash) {
		u.passwords = append(u.passwords, hash)
	}
}

func (u *User) removePassword(hash string) error {
	i := slices.Index(u.passwords, hash)
	if i < 0 {
		return ErrNoPassword
	}
	u.passwords = slices.Delete(u.passwords, i, i+1)
	return nil
}

// words splits at ASCII white space, which no pattern may contain. Other white space of Unicode
// counts as letters.
func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return spaced(string(r)) })
}

// addSelector adds the selector that "(rule rule …)" describes.
func (u *User) addSelector(rule string) error {
	inner, ok := strings.CutSuffix(rule[1:], ")")
	if !ok {
		return ErrSyntax
	}
	s := newSelector(u.table)
	s.allChannels = u.allChannels
	for _, r := range words(inner) {
		if strings.HasSuffix(r, ")") { // written down and read again, it would end the selector
			return ErrSyntax
		}
		if err := s.apply(r); err != nil {
			return err
		}
	}
	u.selectors = append(u.selectors, s)
	return nil
}

// Merge joins the words of a selector in parentheses that were split at spaces, as in the arguments
// of ACL SETUSER and the lines of files. If a parenthesis does not end, bad is the word that has
// it.
func Merge(split []string) (rules []string, bad string, ok bool) {
	open := ""
	for _, w := range split {
		switch {
		case open != "":
			open += " " + w
		case strings.HasPrefix(w, "("):
			open, bad = w, w
		default:
			rules = append(rules, w)
			continue
		}
		if strings.HasSuffix(w, ")") {
			rules = append(rules, open)
			open, bad = "", ""
		}
	}
	return rules, bad, open == ""
}

// Flags returns the user's flags as ACL GETUSER shows them.
func (u *User) Flags() []string {
	flags := []string{"off"}
	if u.enabled {
		flags[0] = "on"
	}
	if u.noPass {
		flags = append(flags, "nopass")
	}
	if u.skipCheck {
		return append(flags, "skip-sanitize-payload")
	}
	return append(flags, "sanitize-payload")
}

// String returns rules that make the same user again, as in a line of ACL LIST after "user name ".
func (u *User) String() string {
	parts := u.Flags()
	for _, p := range u.passwords {
		parts = append(parts, "#"+p)
	}
	parts = append(parts, u.Root().describe())
	for _, s := range u.Others() {
		parts = append(parts, "("+s.describe()+")")
	}
	return strings.Join(parts, " ")
}
