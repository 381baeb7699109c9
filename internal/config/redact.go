package config

import "strings"

// hidden replaces what may be a secret in messages.
const hidden = "(redacted)"

// showable returns a configuration line for a message, with possible secrets hidden: the values of
// sensitive directives, the rules of users, and the words of an unknown directive other than yes
// and no, because its name may be a misspelt sensitive one. A line with unbalanced quotes is split
// at its spaces.
func showable(line string) string {
	words, ok := splitArgs(line)
	if !ok {
		words = strings.Fields(line)
	}
	if len(words) < 2 {
		return line
	}
	name := strings.ToLower(words[0])
	switch d := index[name]; {
	case d != nil && d.Flags&Sensitive != 0:
		return words[0] + " " + hidden
	case name == "user":
		if len(words) > 1 && userName(words[1]) {
			return words[0] + " " + words[1] + " " + hidden
		}
		return words[0] + " " + hidden
	case d != nil || name == "include" || name == "loadmodule" || name == "rename-command":
		return showableWords(line, words)
	}
	for _, w := range words[1:] {
		if !strings.EqualFold(w, "yes") && !strings.EqualFold(w, "no") {
			return words[0] + " " + hidden
		}
	}
	return line
}

// showableWords returns the line up to the first word that begins a secret. Two lines may have been
// joined by mistake.
func showableWords(line string, words []string) string {
	for i, w := range words[1:] {
		d := index[strings.ToLower(w)]
		if d != nil && d.Flags&Sensitive != 0 || strings.EqualFold(w, "user") ||
			strings.HasPrefix(w, ">") {
			return strings.Join(words[:i+1], " ") + " " + hidden
		}
	}
	return line
}

// userName reports whether a word can be a user's name, and not rules in quotes.
func userName(w string) bool { return !strings.ContainsAny(w, " \x00>#") }
