package config

import (
	"reflect"
	"strings"
	"testing"
)

// someValues are tried on every directive. Each directive but the refused ones takes one that is
// not its default.
var someValues = []string{
	"1", "3", "0", "77", "-1", "5%", "3mb", "2097153", "yes", "no", "local", "optional", "", "a b",
	`a "b" \ '` + "\xff\n\t", "::1 -127.0.0.1 -::*", "5 7 11 13", "save now", "nosave force",
	"normal 1 2 3 replica 4096 5 6", "pubsub 1 1 1", "50 99.25 100", "-5 6 2000", "777", "7.2.4",
	"debug", "auto", "upstart", "local3", "allkeys-lrm", "always", "clients", "allchannels", "11",
	"murmur64a", "logfmt", "iso8601", "milliseconds", "relaxed", "unknown-endpoint", "0.25", "64",
	"AKEnocmSTIV", "AKEn", "AKEo", "nocm", "g$lshzxetdKE", "KT", "AV", "127.0.0.1 7000", "/",
	"{title}", "no one", "hostname", "on-empty-db", "panic-on-replicas", "CN", "best-effort",
	"send", "10.0.0.11",
}

// TestRewriteEveryDirective sets each directive to each value that it takes, rewrites a file that
// does or does not name the directive, and expects the new file to load to the same configuration.
func TestRewriteEveryDirective(t *testing.T) {
	for _, d := range table {
		taken := 0
		for _, v := range someValues {
			if taken > 40 { // a string, which takes them all
				break
			}
			for _, file := range []string{"", d.Name + " " + d.defaultLine() + "\n"} {
				if rewrites(t, d, file, v, taken == 0) {
					taken++
				}
			}
		}
		if taken == 0 {
			t.Errorf("%s takes none of the values", d.Name)
		}
	}
}

// defaultLine returns the default as the words of a line.
func (d *Directive) defaultLine() string {
	if d.Flags&Multi == 0 || d.Default == "" {
		return quote(d.Default)
	}
	return d.Default
}

// rewrites sets d to v in the configuration of a file and checks what the rewritten file loads to.
// all asks for lines of the directives at their defaults too. It reports whether d takes v and v
// differs from what the file says.
func rewrites(t *testing.T, d *Directive, file, v string, all bool) bool {
	t.Helper()
	c, err := Parse("file", file)
	if err != nil {
		t.Fatalf("%q: %v", file, err)
	}
	before := d.Value(c)
	if d.Name == "dir" && v != "/" { // CONFIG SET refuses a folder that is not there
		return false
	}
	if err := d.value.parse(c, d.words(v), false); err != nil {
		return false
	}
	text := c.rewrite(file, nil, all)
	again, err := Parse("rewritten", text)
	if err != nil {
		t.Errorf("%s %q: %v", d.Name, v, err)
	} else if !sameValues(c, again) {
		t.Errorf("%s %q became %q, in a file that had %q, by the line %q", d.Name, v,
			d.Value(again), file, lineOf(d, text))
	}
	return d.Value(c) != before
}

// sameValues compares all values, shown or not.
func sameValues(a, b *Config) bool {
	x, y := *a, *b
	for _, c := range []*Config{&x, &y} {
		c.given, c.warnings = nil, nil
	}
	return reflect.DeepEqual(x, y)
}

func lineOf(d *Directive, text string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, d.Name+" ") {
			return line
		}
	}
	return ""
}
