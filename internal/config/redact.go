package config

import "strings"

// hidden stands in messages for what may be a secret.
const hidden = "(redacted)"

// showable returns a line of configuration for a message, without what may be a secret: the values
// of sensitive directives, the rules of users, and, since the name may be a misspelt one of those,
// the words of an unknown directive that are not yes or no. A line whose quotes do not match is cut
// into words at its spaces.
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

// showableWords returns the line up to a word that begins a secret: two lines may have become one.
func showableWords(line string, words []string) string {
	for i, w := range words[1:] {
		d := index[strings.ToLower(w)]
		if d != nil && d.Flags&Sensitive != 0 || strings.EqualFold(w, "user") || strings.HasPrefix(w, ">") {
			return strings.Join(words[:i+1], " ") + " " + hidden
		}
	}
	return line
}

// userName reports whether a word can be the name of a user, and not rules that were put in quotes.
func userName(w string) bool { return !strings.ContainsAny(w, " \x00>#") }
