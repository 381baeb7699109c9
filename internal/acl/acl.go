// Package acl holds users and decides what each may do. It implements the rules of ACL SETUSER, in
// Redis's language and with its errors.
//
// # Shape
//
// A User has flags, passwords (as SHA-256 only) and selectors. A Selector is one complete set of
// permissions: commands, keys, channels, databases. The rules outside of parentheses make the root
// selector; each (…) adds another. A command is allowed if one selector allows all of it. Different
// selectors cannot allow different parts of it.
//
//	on >secret ~cache:* +@read (%W~log:* +append)
//	|--| |----| |--------------| |---------------|
//	flag  pass.   root selector    second selector
//
// Commands are those of a spec.Table. A selector keeps a bit for each command and subcommand, by
// ID, the first arguments allowed for commands that have no bit ("+select|0"), and the rules that
// made them, as they were given.
//
// # Checking
//
// The caller finds keys and channels in the arguments, with what the command does to them, and
// passes them to User.Check. Check returns the worst reason of all selectors, as Redis does: a key
// is a worse reason than a command, because that selector came further. Databases, which are of
// Valkey, are checked first.
//
// # Limits
//
// The package is not safe for concurrent use. Check allocates nothing.
package acl

// RuleError says why a rule is refused, in the words that ACL SETUSER puts after "Error in ACL
// SETUSER modifier '…': ".
type RuleError string

// Error implements error.
func (e RuleError) Error() string { return string(e) }

// The errors of rules.
const (
	ErrUnknown      RuleError = "Unknown command or category name in ACL"
	ErrSyntax       RuleError = "Syntax error"
	ErrKeysAfterAll RuleError = "Adding a pattern after the * pattern (or the 'allkeys' flag) is " +
		"not valid and does not have any effect. Try 'resetkeys' to start with an empty list of " +
		"patterns"
	ErrChanAfterAll RuleError = "Adding a pattern after the * pattern (or the 'allchannels' " +
		"flag) is not valid and does not have any effect. Try 'resetchannels' to start with an " +
		"empty list of channels"
	ErrNoPassword RuleError = "The password you are trying to remove from the user does not exist"
	ErrBadHash    RuleError = "The password hash must be exactly 64 characters and contain " +
		"only lowercase hexadecimal characters"
	ErrDatabase RuleError = "The provided database ID is out of range"
	ErrFirstArg RuleError = "Allowing first-arg of a subcommand is not supported"
)
