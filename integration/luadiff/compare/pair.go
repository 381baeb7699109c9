package compare

import (
	"fmt"
	"regexp"
	"strings"

	"godwit/internal/lua/luagen"
)

// Pair is two engines to compare.
type Pair struct{ Judge, Tested Engine }

// Difference is a program of which the engines return different things. Number is its place among
// those that were checked with it.
type Difference struct {
	Program, Want, Got string
	Number             int
}

// String returns the program, without what all programs begin with, and what differs.
func (d Difference) String() string {
	want, got := d.Lines()
	body := strings.TrimSpace(luagen.Body(d.Program))
	return fmt.Sprintf("%s\nwant: %s\ngot:  %s\n", body, want, got)
}

// Check runs programs on both engines and returns the differences.
func (p Pair) Check(programs ...string) ([]Difference, error) {
	want, err := p.Judge.Run(programs...)
	if err != nil {
		return nil, err
	}
	got, err := p.Tested.Run(programs...)
	if err != nil {
		return nil, err
	}
	var found []Difference
	for i := range programs {
		if want[i] != got[i] {
			found = append(found, Difference{programs[i], want[i], got[i], i})
		}
	}
	return found, nil
}

// Class returns what differences of one cause mostly have in common: the words that differ, without
// names and numbers.
func (d Difference) Class() string {
	want, got := d.Lines()
	w, g := strings.Fields(want), strings.Fields(got)
	for len(w) > 1 && len(g) > 1 && w[0] == g[0] {
		w, g = w[1:], g[1:]
	}
	for len(w) > 1 && len(g) > 1 && w[len(w)-1] == g[len(g)-1] {
		w, g = w[:len(w)-1], g[:len(g)-1]
	}
	class := strings.Join(w[:min(len(w), 8)], " ") + " | " + strings.Join(g[:min(len(g), 8)], " ")
	return mask.ReplaceAllString(class, "_")
}

var mask = regexp.MustCompile(`'[^']*'|-?[0-9.]+(e[-+]?[0-9]+)?`)

// Lines returns the first lines that differ.
func (d Difference) Lines() (want, got string) {
	w, g := strings.Split(d.Want, "\n"), strings.Split(d.Got, "\n")
	for i := range max(len(w), len(g)) {
		switch {
		case i >= len(w):
			return "(nothing)", g[i]
		case i >= len(g):
			return w[i], "(nothing)"
		case w[i] != g[i]:
			return w[i], g[i]
		}
	}
	return "", ""
}
