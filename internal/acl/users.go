package acl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Default is the name of the user that connections have until they authenticate.
const Default = "default"

// Users are all users by name. There always is a default one.
type Users struct {
	Catalog *Catalog

	byName map[string]*User
}

// NewUsers has the default user only, who may do everything without a password.
func NewUsers(cat *Catalog) *Users {
	us := &Users{Catalog: cat, byName: map[string]*User{}}
	u := NewUser(Default, cat, false)
	for _, rule := range []string{"on", "nopass", "~*", "&*", "+@all"} {
		if err := u.Apply(rule); err != nil {
			panic(err) // the rules are known to be good
		}
	}
	us.byName[Default] = u
	return us
}

// Get is the user of that name, nil if there is none.
func (us *Users) Get(name string) *User { return us.byName[name] }

// Names are the names of all users, sorted.
func (us *Users) Names() []string {
	names := make([]string, 0, len(us.byName))
	for name := range us.byName {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Set changes or makes the user by rules, all of them or none. The User that connections hold stays the same one. rule is the one that was wrong.
func (us *Users) Set(name string, rules []string, allChannels bool) (rule string, err error) {
	u := us.byName[name]
	try := NewUser(name, us.Catalog, allChannels)
	if u != nil {
		try = u.Clone()
		try.allChannels = allChannels
	}
	for _, r := range rules {
		if err := try.Apply(r); err != nil {
			return r, err
		}
	}
	if u == nil {
		us.byName[name] = try
	} else {
		*u = *try
	}
	return "", nil
}

// Delete takes the user away and reports whether there was one. The default user cannot go: that is for the caller to say.
func (us *Users) Delete(name string) bool {
	if name == Default || us.byName[name] == nil {
		return false
	}
	delete(us.byName, name)
	return true
}

// Authenticate is the user if the password is right, else nil. A name that nobody has takes as long as a wrong password.
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

// ValidName reports whether a user may have the name: it must be one word in a file.
func ValidName(name string) bool { return name != "" && !spaced(name) }

// Load reads an ACL file, a line "user name rule rule …" for each user. All of it must be right; the errors name the lines. Users that the file
// does not have are gone, but for the default one, which then is as at the beginning. Like Set it leaves the User alone that connections hold.
func (us *Users) Load(text string, allChannels bool) error {
	fresh := NewUsers(us.Catalog)
	seen := map[string]bool{}
	var bad []string
	for i, line := range strings.Split(text, "\n") {
		w := words(line)
		if len(w) == 0 || strings.HasPrefix(w[0], "#") {
			continue
		}
		if err := fresh.loadLine(w, seen, allChannels); err != nil {
			bad = append(bad, fmt.Sprintf("%d: %v", i+1, err))
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("line %s", strings.Join(bad, "; line "))
	}
	for name, u := range fresh.byName {
		if old := us.byName[name]; old != nil {
			*old = *u
			fresh.byName[name] = old
		}
	}
	us.byName = fresh.byName
	return nil
}

func (us *Users) loadLine(w []string, seen map[string]bool, allChannels bool) error {
	if w[0] != "user" || len(w) < 2 {
		return errors.New("should begin with the user keyword and a name")
	}
	name := w[1]
	if seen[name] {
		return fmt.Errorf("the user '%s' is there twice", name)
	}
	seen[name] = true
	rules, rest, ok := Merge(w[2:])
	if !ok {
		return fmt.Errorf("unmatched parenthesis in '%s'", rest)
	}
	delete(us.byName, name) // the default user too begins with nothing
	if rule, err := us.Set(name, rules, allChannels); err != nil {
		return fmt.Errorf("%s: %w", rule, err)
	}
	return nil
}

// Save is the text of an ACL file.
func (us *Users) Save() string {
	var b strings.Builder
	for _, name := range us.Names() {
		fmt.Fprintf(&b, "user %s %s\n", name, us.byName[name])
	}
	return b.String()
}
