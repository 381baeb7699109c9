package diff

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Rule is one rule of a file of known differences.
type Rule struct {
	Pattern    string // globs over command names: "ttl", "client|*,acl|*"
	Comparator string // or one of ruleReplies and the names of rewriters
	Reason     string

	// Of ruleReplies: what each side says, in the words of reports. "*" stands for any text.
	Theirs, Ours string
	Option       string // of ruleLacks

	used bool // two replies that differ were accepted for it, or a command was left out
}

// Kinds of rules besides those that name a comparator.
const (
	ruleReplies = "replies" // one pair of replies is all right
	ruleLacks   = "lacks"   // the reference may refuse the command with this argument
)

// Known holds the rules for one reference. The last rule that matches a command decides about its
// comparator. Rules about pairs of replies, and rewriters, add to that.
type Known struct {
	Reference Reference
	SeenWith  string // the server that the rules were made for: "redis 8.0.6"
	Rules     []Rule
	adds      []Rule // those of other kinds, and the rewriters
	cmps      map[string]comparator
}

// ParseKnown reads files of rules, the later ones with the last word. A rule is one of
//
//	pattern comparator reason…
//	pattern replies "theirs" "ours" reason…
//	pattern lacks OPTION reason…
//
// on a line and those behind it that begin with a blank. "seen-with SERVER VERSION" says what the
// rules were made for. A rule without a reason, or with an unknown comparator, is an error.
func ParseKnown(files ...io.Reader) (*Known, error) {
	k := &Known{cmps: comparators()}
	for _, f := range files {
		if err := k.read(f); err != nil {
			return nil, fmt.Errorf("known differences, %w", err)
		}
	}
	return k, nil
}

func (k *Known) read(r io.Reader) error {
	sc := bufio.NewScanner(r)
	rule, begin := "", 0
	flush := func() error {
		if rule == "" {
			return nil
		}
		err := k.add(rule)
		if err != nil {
			err = fmt.Errorf("line %d: %w", begin, err)
		}
		rule = ""
		return err
	}
	for n := 1; sc.Scan(); n++ {
		line := sc.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		if line != "" && (line[0] == ' ' || line[0] == '\t') {
			rule += " " + strings.TrimSpace(line)
			continue
		}
		if err := flush(); err != nil {
			return err
		}
		rule, begin = strings.TrimSpace(line), n
	}
	return cmp.Or(flush(), sc.Err())
}

// add adds the rule that the text describes.
func (k *Known) add(text string) error {
	f := strings.Fields(text)
	if len(f) < 3 {
		return fmt.Errorf("want: command comparator reason")
	}
	if f[0] == "seen-with" {
		k.SeenWith = f[1] + " " + f[2]
		return nil
	}
	if _, err := path.Match(f[0], ""); err != nil {
		return err
	}
	r := Rule{Pattern: f[0], Comparator: f[1]}
	rest := strings.TrimSpace(strings.TrimPrefix(text, f[0]))
	rest = strings.TrimSpace(strings.TrimPrefix(rest, f[1]))
	if r.Comparator == ruleReplies {
		var err error
		if r.Theirs, rest, err = quoted(rest); err != nil {
			return err
		}
		if r.Ours, rest, err = quoted(rest); err != nil {
			return err
		}
	}
	if r.Comparator == ruleLacks {
		r.Option, rest, _ = strings.Cut(rest, " ")
		rest = strings.TrimSpace(rest)
	}
	if r.Reason = rest; rest == "" {
		return fmt.Errorf("no reason for %s", f[0])
	}
	switch {
	case r.Comparator == ruleReplies, r.Comparator == ruleLacks,
		rewriters()[r.Comparator] != nil:
		k.adds = append(k.adds, r)
	case k.cmps[r.Comparator] != nil:
		k.Rules = append(k.Rules, r)
	default:
		return fmt.Errorf("no comparator named %q", r.Comparator)
	}
	return nil
}

// quoted cuts a quoted text from the front of s.
func quoted(s string) (text, rest string, err error) {
	q, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", "", fmt.Errorf(`want: command replies "theirs" "ours" reason`)
	}
	text, err = strconv.Unquote(q)
	return text, strings.TrimSpace(s[len(q):]), err
}

// Rule returns the rule for a command name ("client|list"). Without one, the comparison is exact.
func (k *Known) Rule(name string) *Rule {
	for i := len(k.Rules) - 1; i >= 0; i-- {
		if k.Rules[i].about(name) {
			return &k.Rules[i]
		}
	}
	return &Rule{Pattern: name, Comparator: "exact"}
}

// about reports whether one of the rule's patterns matches the command name.
func (r *Rule) about(name string) bool {
	for p := range strings.SplitSeq(r.Pattern, ",") {
		if ok, _ := path.Match(p, name); ok {
			return true
		}
	}
	return false
}

// ruleOf returns the rule for a command with its subcommand.
func (k *Known) ruleOf(c Cmd) *Rule {
	if r := k.Rule(c.FullName()); r.Comparator != "exact" {
		return r
	}
	return k.Rule(c.Name())
}

// equal reports whether the command's comparator accepts two decoded replies, or a rule about such
// replies does.
func (k *Known) equal(c Cmd, a, b Reply) bool {
	a, b = k.rewrite(c.FullName(), a), k.rewrite(c.FullName(), b)
	rule := k.ruleOf(c)
	return rule.accepts(k.cmps[rule.Comparator](c.Args, a, b), a, b) || k.excused(c, a, b)
}

// accepts returns ok, the rule's judgement of two replies, and notes whether it was needed.
func (r *Rule) accepts(ok bool, a, b Reply) bool {
	r.used = r.used || ok && !same(a, b)
	return ok
}

// Unused returns the rules that nothing has been accepted for so far.
func (k *Known) Unused() []Rule {
	return slices.DeleteFunc(slices.Concat(k.Rules, k.adds), func(r Rule) bool { return r.used })
}

// String returns the rule as it stands in its file, without the reason.
func (r Rule) String() string {
	text := r.Pattern + " " + r.Comparator
	switch r.Comparator {
	case ruleReplies:
		text += fmt.Sprintf(" %q %q", r.Theirs, r.Ours)
	case ruleLacks:
		text += " " + r.Option
	}
	return text
}

// excused reports whether rules about pairs of replies cover what differs. Replies of scripts have
// those of other commands in them.
func (k *Known) excused(c Cmd, a, b Reply) bool {
	if same(a, b) {
		return true
	}
	script := runsScript(c.Name())
	texts := [][2]string{{a.String(), b.String()}}
	if script {
		texts = append(texts, [2]string{withoutOrigin(texts[0][0]), withoutOrigin(texts[0][1])})
	}
	for i := range k.adds {
		r := &k.adds[i]
		ours := r.about(c.FullName()) || r.about(c.Name())
		if r.Comparator == ruleLacks && ours && a.IsErr() && c.has(r.Option) {
			r.used = true
			return true
		}
		if r.Comparator != ruleReplies || !script && !ours {
			continue
		}
		for _, t := range texts {
			if like(r.Theirs, t[0]) && like(r.Ours, t[1]) {
				r.used = true
				return true
			}
		}
	}
	if a.Elems == nil || a.Kind != b.Kind || len(a.Elems) != len(b.Elems) {
		return false
	}
	for i := range a.Elems {
		if !k.excused(c, a.Elems[i], b.Elems[i]) {
			return false
		}
	}
	return true
}

// runsScript reports whether the command's reply is that of a script.
func runsScript(name string) bool {
	return strings.HasPrefix(name, "eval") || strings.HasPrefix(name, "fcall")
}

// withoutOrigin cuts off which script an error comes from.
func withoutOrigin(text string) string {
	text, _, _ = strings.Cut(text, " script: ")
	return text
}

// like reports whether the text matches the pattern, in which "*" stands for any text.
func like(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, p := range parts[1:last] {
		_, after, found := strings.Cut(text, p)
		if !found {
			return false
		}
		text = after
	}
	return strings.HasSuffix(text, parts[last])
}
