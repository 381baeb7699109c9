package config

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// conf/godwit.conf writes every default as "#name value", and prose as "# text".
var confLine = regexp.MustCompile(`^#([a-z][a-z0-9_-]*) (.+)$`)

// loopback is the one directive that the file sets: make run serves this machine only.
const loopback = "bind 127.0.0.1 -::1"

func TestConfFileMatchesTable(t *testing.T) {
	const path = "../../conf/godwit.conf"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	var lines []string
	for _, line := range strings.Split(string(data), "\n") {
		m := confLine.FindStringSubmatch(line)
		if m == nil {
			if line != "" && line != loopback && !strings.HasPrefix(line, "# ") &&
				strings.Trim(line, "#") != "" && !strings.HasPrefix(line, "##") {
				t.Errorf("neither prose nor a directive: %q", line)
			}
			continue
		}
		if seen[m[1]] != "" {
			t.Errorf("%s is documented twice", m[1])
		}
		seen[m[1]] = m[2]
		lines = append(lines, line[1:])
		d := Lookup(m[1])
		if d == nil || d.Name != m[1] {
			t.Errorf("%s is not in the table under this name", m[1])
			continue
		}
		words, ok := splitArgs(m[2])
		if !ok {
			t.Errorf("%q: unbalanced quotes", line)
			continue
		}
		if len(words) == 1 && words[0] == "" && d.Flags&Multi != 0 {
			words = nil
		}
		got, err := d.value.canon(words)
		want, _ := d.value.canon(d.defaultArgs())
		if err != nil || got != want {
			t.Errorf("%s: the file says %q (%v), the table %q", m[1], got, err, want)
		}
	}
	for _, d := range Directives() {
		if _, ok := seen[d.Name]; !ok {
			t.Errorf("%s is not documented", d.Name)
		}
	}
	if c, err := Load([]string{path}, nil); err != nil {
		t.Errorf("the file as it stands: %v", err)
	} else if got := strings.Join(c.Bind, " "); got != "127.0.0.1 -::1" {
		t.Errorf("the file listens on %s", got)
	}
	if _, err := Parse("defaults", strings.Join(lines, "\n")); err != nil {
		t.Errorf("with every default uncommented: %v", err)
	}
}

// TestConfFileSections checks that exactly the directives that are not supported yet stand under
// their heading.
func TestConfFileSections(t *testing.T) {
	data, err := os.ReadFile("../../conf/godwit.conf")
	if err != nil {
		t.Fatal(err)
	}
	status := Works
	for _, line := range strings.Split(string(data), "\n") {
		switch {
		case strings.HasPrefix(line, "##") && strings.Contains(line, "not yet here"):
			status = Later
		case strings.HasPrefix(line, "##") && strings.Contains(line, "without meaning"):
			status = Ignored
		}
		if m := confLine.FindStringSubmatch(line); m != nil {
			if d := Lookup(m[1]); d != nil && d.Status != status {
				t.Errorf("%s stands in the wrong part of the file", m[1])
			}
		}
	}
}
