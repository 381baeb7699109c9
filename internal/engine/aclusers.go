package engine

import (
	"os"
	"strings"

	"godwit/internal/acl"
	"godwit/internal/config"
	"godwit/internal/logging"
	"godwit/internal/pubsub"
)

// ErrNoACLFile answers ACL LOAD and ACL SAVE when aclfile is not set.
const ErrNoACLFile = "ERR This Redis instance is not configured to use an ACL file. You may want " +
	"to specify users via the ACL SETUSER command and then issue a CONFIG REWRITE (assuming you " +
	"have a Redis configuration file set) in order to store users in the Redis configuration."

// errUsersTwice reports two sources of users in the configuration. The server does not start then.
const errUsersTwice usersError = "Configuring Redis with users defined in redis.conf and at the " +
	"same setting an ACL file path is invalid. This setup is very likely to lead to " +
	"configuration errors and security holes, please define either an ACL file or declare " +
	"users directly in your redis.conf, but not both."

// usersError reports why users cannot be read, in Redis's words.
type usersError string

func (e usersError) Error() string { return string(e) }

func (e *Engine) allChannelsDefault() bool { return e.Cfg.ACLPubsubDefault == "allchannels" }

// SetUser creates a user or changes one. It applies all rules or none, and returns the rule that
// failed. It closes the user's connections that have subscribed to what the user may no longer
// hear.
func (e *Engine) SetUser(name string, rules []string) (rule string, err error) {
	listens := e.access.users.Get(name).NamesChannels()
	if rule, err = e.access.users.Set(name, rules, e.allChannelsDefault()); err != nil {
		return rule, err
	}
	// A user who had no channels loses none. Who subscribed as another user before stays then.
	if listens {
		e.endForbidden(e.access.users.Get(name))
	}
	return "", nil
}

// DelUser deletes a user and closes its connections. It reports whether there was such a user.
func (e *Engine) DelUser(name string) bool {
	u := e.access.users.Get(name)
	if !e.access.users.Delete(name) {
		return false
	}
	e.expel(u)
	return true
}

// expel closes the connections of a deleted user.
func (e *Engine) expel(u *acl.User) {
	e.Clients(func(c *Client) bool {
		if c.User == u {
			// The client of the running command is closed later. Until then it has no rights.
			c.User, c.Authenticated = e.access.def, false
			e.Kill(c)
		}
		return true
	})
}

// endForbidden closes the user's connections that have subscribed to channels that the user may no
// longer hear. Messages are not checked one by one.
func (e *Engine) endForbidden(u *acl.User) {
	if u.Unrestricted() || e.hub.Subscribers() == 0 {
		return
	}
	e.Clients(func(c *Client) bool {
		if c.User == u && c.sub.Total() > 0 && !c.mayKeepListening(u) {
			e.Kill(c)
		}
		return true
	})
}

func (c *Client) mayKeepListening(u *acl.User) bool {
	for _, k := range []pubsub.SubscriptionKind{pubsub.Channels, pubsub.Patterns, pubsub.Shards} {
		for _, name := range c.sub.Names(k) {
			if !u.MayChannel([]byte(name), k == pubsub.Patterns) {
				return false
			}
		}
	}
	return true
}

// LoadUsers creates the users that the configuration names, from its user lines or from the ACL
// file. It is called at the start.
func (e *Engine) LoadUsers() error {
	cfg := e.Cfg
	if cfg.ACLFile != "" {
		if len(cfg.Users) > 0 {
			return errUsersTwice
		}
		if err := e.LoadACLFile(); err != nil {
			return usersError("Aborting Redis startup because of ACL errors: " + err.Error())
		}
		return nil
	}
	seen := map[string]bool{}
	for _, l := range cfg.Users {
		if reason := e.configuredUser(l.Words, seen); reason != "" {
			return &config.LineError{Source: l.Source, Line: l.Line, Text: l.Text, Reason: reason}
		}
	}
	return nil
}

// configuredUser creates the user of one line of the configuration. It returns what is wrong with
// the line, "" if nothing is.
func (e *Engine) configuredUser(words []string, seen map[string]bool) string {
	name := words[0]
	rules, bad, ok := acl.Merge(words[1:])
	switch {
	case !acl.ValidName(name):
		return "Usernames can't contain spaces or null characters"
	case seen[name]:
		return "Error in user declaration: the user '" + name + "' is declared twice"
	case !ok:
		return "Unmatched parenthesis in acl selector starting at '" + shownRule(bad) + "'."
	}
	seen[name] = true
	if name == acl.Default {
		rules = append([]string{"reset"}, rules...) // it too begins with nothing
	}
	if rule, err := e.SetUser(name, rules); err != nil {
		return "Error in user declaration '" + shownRule(rule) + "': " + err.Error()
	}
	return ""
}

// shownRule returns a rule as the log may show it. What may be a password, or a misspelt one, is
// redacted.
func shownRule(rule string) string {
	begin := strings.TrimLeft(rule, "(")
	if begin == "" || !strings.ContainsAny(begin[:1], "+-~%&") || strings.ContainsAny(rule, ">#") {
		return "(redacted)"
	}
	return rule
}

// LoadACLFile replaces all users by those of the ACL file. It closes the connections of users that
// are gone. On an error nothing changes.
func (e *Engine) LoadACLFile() error {
	path := e.Cfg.ACLFile
	text, err := os.ReadFile(path)
	if err != nil {
		return usersError(
			"Error loading ACLs, opening file '" + path + "': " + logging.OSError(err))
	}
	gone, err := e.access.users.Load(path, string(text), e.allChannelsDefault())
	if err != nil {
		return err
	}
	for _, u := range gone {
		e.expel(u)
	}
	for _, name := range e.access.users.Names() {
		e.endForbidden(e.access.users.Get(name))
	}
	return nil
}

// SaveACLFile replaces the ACL file by one with the present users, in one step.
func (e *Engine) SaveACLFile() error {
	return config.ReplaceFile(e.Cfg.ACLFile, []byte(e.access.users.Save()))
}

// RewriteConfig carries out CONFIG REWRITE. The users go into the configuration file unless there
// is an ACL file.
func (e *Engine) RewriteConfig() error {
	if e.Cfg.ACLFile != "" {
		return e.Cfg.Rewrite()
	}
	return e.Cfg.RewriteUsers(e.userLines())
}

// ConfigText returns a configuration file that makes a server like this one, with its users.
func (e *Engine) ConfigText() string { return e.Cfg.Text(e.userLines()) }

// SessionConfig returns the configuration of a debugging session: that of the server. As a replica
// without a link, a session serves what the server does.
func (e *Engine) SessionConfig() string {
	text := e.ConfigText()
	if !e.servesNothing() {
		text += "replica-serve-stale-data yes\n"
	}
	return text
}

// userLines returns the users as lines of a configuration file.
func (e *Engine) userLines() []string {
	plain := acl.NewUsers(e.table.Table)
	if p := e.Cfg.RequirePass; p != "" {
		if _, err := plain.Set(acl.Default, []string{">" + p}, false); err != nil {
			panic(err)
		}
	}
	lines := []string{}
	for _, line := range strings.Split(strings.TrimSuffix(e.access.users.Save(), "\n"), "\n") {
		if line+"\n" != plain.Save() { // the default user, as it is without a line
			lines = append(lines, line)
		}
	}
	return lines
}
