// Package nodes reads what a node of a cluster says of all, in CLUSTER NODES.
package nodes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"godwit/internal/slot"
)

// View is what one node says of all, in CLUSTER NODES.
type View []Line

// Line is a line of CLUSTER NODES.
type Line struct {
	ID, Addr string // Addr is that for clients
	Bus      int
	Flags    []string
	Master   string // of a replica, else "-"
	Epoch    int
	Linked   bool
	Slots    slot.Set
	Moving   map[int]string // by slot: ">id" where it migrates to, "<id" where it is imported from
}

// Has reports whether the line has a flag.
func (l *Line) Has(flag string) bool { return slices.Contains(l.Flags, flag) }

// Parse reads a reply of CLUSTER NODES.
func Parse(text string) (view View, err error) {
	for line := range strings.Lines(text) {
		l, err := parseLine(line)
		if err != nil {
			return nil, err
		}
		view = append(view, l)
	}
	return view, nil
}

func parseLine(line string) (l Line, err error) {
	f := strings.Fields(line)
	if len(f) < 8 {
		return l, fmt.Errorf("CLUSTER NODES: %q", line)
	}
	addr, _, _ := strings.Cut(f[1], ",") // a hostname may follow
	addr, bus, _ := strings.Cut(addr, "@")
	l = Line{ID: f[0], Addr: addr, Flags: strings.Split(f[2], ","), Master: f[3],
		Linked: f[7] == "connected", Moving: map[int]string{}}
	if l.Bus, err = strconv.Atoi(bus); err != nil {
		return l, fmt.Errorf("CLUSTER NODES: %q: %w", line, err)
	}
	if l.Epoch, err = strconv.Atoi(f[6]); err != nil {
		return l, fmt.Errorf("CLUSTER NODES: %q: %w", line, err)
	}
	for _, word := range f[8:] {
		if err := l.slots(word); err != nil {
			return l, fmt.Errorf("CLUSTER NODES: %q: %w", line, err)
		}
	}
	return l, nil
}

// slots reads a word behind the eighth of a line: "1-5", "[3->-id]" or "[3-<-id]".
func (l *Line) slots(word string) error {
	inner, moving := strings.CutPrefix(word, "[")
	if !moving {
		s, err := slot.Parse(word)
		l.Slots.Union(&s)
		return err
	}
	number, where, _ := strings.Cut(strings.TrimSuffix(inner, "]"), "-")
	i, err := strconv.Atoi(number)
	if len(where) < 2 {
		return slot.ErrRange
	}
	l.Moving[i] = where[:1] + where[2:]
	return err
}

// Linked reports whether there is a link to every node, and none is on its way in.
func (v View) Linked() bool {
	return !slices.ContainsFunc(v, func(l Line) bool {
		return !l.Linked || l.Has("handshake") || l.Has("noaddr")
	})
}

// Find returns the line of a node, nil if there is none.
func (v View) Find(id string) *Line {
	i := slices.IndexFunc(v, func(l Line) bool { return l.ID == id })
	if i < 0 {
		return nil
	}
	return &v[i]
}

// Owner returns the line of the node that has a slot, nil if there is none.
func (v View) Owner(s int) *Line {
	i := slices.IndexFunc(v, func(l Line) bool { return l.Slots.Has(s) })
	if i < 0 {
		return nil
	}
	return &v[i]
}

// Masters returns the lines of nodes with slots, in the order of their slots.
func (v View) Masters() (list View) {
	for _, l := range v {
		if !l.Slots.Empty() {
			list = append(list, l)
		}
	}
	slices.SortFunc(list, func(a, b Line) int {
		return a.Slots.Ranges()[0].First - b.Slots.Ranges()[0].First
	})
	return list
}
