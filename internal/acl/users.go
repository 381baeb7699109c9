package acl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"godwit/internal/crash"
	"godwit/internal/spec"
)

// Default is the name of the user of connections that have not authenticated.
const Default = "default"

// Users holds all users by name. There always is a default one.
type Users struct {
	table  *spec.Table
	byName map[string]*User
}

// NewUsers returns the default user alone, who may do everything without a password.
func NewUsers(table *spec.Table) *Users {
	us := &Users{table: table, byName: map[string]*User{}}
	u := NewUser(Default, table, false)
	for _, rule := range []string{"on", "nopass", "~*", "&*", "+@all"} {
		if err := u.Apply(rule); err != nil {
			panic(err) // the rules are valid
		}
	}
	us.byName[Default] = u
	return us
}

// Get returns the user of that name, or nil.
func (us *Users) Get(name string) *User { return us.byName[name] }

// Names returns the names of all users, sorted.
func (us *Users) Names() []string {
	names := make([]string, 0, len(us.byName))
	for name := range us.byName {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Set creates or changes a user by rules, all of them or none. The *User that connections hold
// stays the same. On an error, rule is the one that is wrong.
func (us *Users) Set(name string, rules []string, allChannels bool) (rule string, err error) {
	u := us.byName[name]
	try := NewUser(name, us.table, allChannels)
	if u != nil {
		try = u.Clone()
		try.allChannels = allChannels
	}
	if crash.Contain("applying rules to a user", func() { rule, err = try.applyAll(rules) }) {
		return "", errInternal
	}
	if err != nil {
		return rule, err
	}
	if u == nil {
		us.byName[name] = try
	} else {
		*u = *try
	}
	return "", nil
}

// errInternal reports a fault of this package.
var errInternal = errors.New("internal error, the server's log tells more")

// applyAll applies the rules in order and returns the first that is wrong.
func (u *User) applyAll(rules []string) (rule string, err error) {
	for _, r := range rules {
		if err := u.Apply(r); err != nil {
			return r, err
		}
	}
	return "", nil
}

// Delete removes the user and reports whether there was one. Callers must refuse to delete the
// default user.
func (us *Users) Delete(name string) bool {
	if name == Default || us.byName[name] == nil {
		return false
	}
	delete(us.byName, name)
	return true
}

// Authenticate returns the user if the password is right, else nil. An unknown name takes as long
// as a wrong password.
func (us *Users) Authenticate(name string, password []byte) *User {
	u := us.byName[name]
	if u == nil {
		HashPassword(password)
		return nil
	}
	if u.Authenticate(password) {
		return u
	}
	return nil
}

// ValidName reports whether a user may have the name. It must be one word in a file.
func ValidName(name string) bool { return name != "" && !spaced(name) }

// Load reads an ACL file, with a line "user name rule rule …" for each user. All lines must be
// right. The error names the file and every wrong line, in Redis's words. Users that the file lacks
// are removed and returned in gone, except the default one, which is reset. The *User that
// connections hold stays the same, as with Set.
func (us *Users) Load(name, text string, allChannels bool) (gone []*User, err error) {
	fresh := NewUsers(us.table)
	seen := map[string]bool{}
	var bad strings.Builder
	for i, line := range strings.Split(text, "\n") {
		w := words(line)
		if len(w) == 0 || strings.HasPrefix(w[0], "#") {
			continue
		}
		bad.WriteString(fresh.loadLine(name, i+1, w, seen, allChannels))
	}
	if bad.Len() > 0 {
		return nil, errors.New(bad.String() + "WARNING: ACL errors detected, no change to the " +
			"previously active ACL rules was performed")
	}
	for name, old := range us.byName {
		if u := fresh.byName[name]; u != nil {
			*old = *u
			fresh.byName[name] = old
		} else {
			gone = append(gone, old)
		}
	}
	us.byName = fresh.byName
	return gone, nil
}

// loadLine reads one line and returns what is wrong with it.
func (us *Users) loadLine(file string, line int, w []string, seen map[string]bool,
	allChannels bool) (bad string) {
	if w[0] != "user" || len(w) < 2 {
		return fmt.Sprintf("%s:%d should start with user keyword followed by the username. ", file,
			line)
	}
	name := w[1]
	if seen[name] {
		return fmt.Sprintf("WARNING: Duplicate user '%s' found on line %d. ", name, line)
	}
	seen[name] = true
	rules, _, ok := Merge(w[2:])
	if !ok {
		return fmt.Sprintf("%s:%d: Unmatched parenthesis in selector definition.", file, line)
	}
	u := NewUser(name, us.table, allChannels) // the default user starts with nothing too
	other := false
	for _, r := range rules {
		switch err := u.Apply(r); {
		case err == ErrUnknown: // such a rule cannot hold a secret
			bad += fmt.Sprintf("%s:%d: Error in applying operation '%s': %s. ", file, line, r, err)
		case err != nil && !other:
			bad += fmt.Sprintf("%s:%d: %s. ", file, line, err)
			other = true // later errors may follow from it
		}
	}
	us.byName[name] = u
	return bad
}

// Save returns the text of an ACL file.
func (us *Users) Save() string {
	var b strings.Builder
	for _, name := range us.Names() {
		fmt.Fprintf(&b, "user %s %s\n", name, us.byName[name])
	}
	return b.String()
}
