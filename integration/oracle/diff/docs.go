package diff

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Arg is one node of a command's argument tree as COMMAND DOCS describes it.
type Arg struct {
	Name     string
	Type     string // key, string, integer, double, pattern, unix-time, pure-token, oneof, block
	Token    string
	HasToken bool // Token may be the empty string
	Since    string
	Optional bool
	Multiple bool
	EachTok  bool // the token is repeated before every repetition
	Args     []Arg
}

// Command is one command or subcommand.
type Command struct {
	Name   string // lower case; a subcommand is "client|setname"
	Group  string
	Since  string
	Arity  int // as in COMMAND: counts the name (both names of a subcommand), negative is a minimum
	Flags  []string
	Parent bool // has subcommands, so it is called through them
	Args   []Arg
}

// Argv0 returns the arguments that name the command.
func (c *Command) Argv0() []string { return strings.Split(c.Name, "|") }

// Table is a server's commands by name.
type Table map[string]*Command

// Names returns the names in a fixed order: streams depend on it.
func (t Table) Names() []string { return slices.Sorted(maps.Keys(t)) }

// ReadTable asks a server for COMMAND and COMMAND DOCS.
func ReadTable(c *Conn) (Table, error) {
	docs, err := c.Do("COMMAND", "DOCS")
	if err != nil {
		return nil, err
	}
	info, err := c.Do("COMMAND")
	if err != nil {
		return nil, err
	}
	t := Table{}
	readDocs(t, docs)
	readInfo(t, info)
	if len(t) == 0 {
		return nil, errors.New("COMMAND DOCS lists no commands")
	}
	return t, nil
}

func readDocs(t Table, docs Reply) {
	for i := 0; i+1 < len(docs.Elems); i += 2 {
		d := docs.Elems[i+1]
		c := &Command{Name: strings.ToLower(docs.Elems[i].Str)}
		if v, ok := d.Get("group"); ok {
			c.Group = v.Str
		}
		if v, ok := d.Get("since"); ok {
			c.Since = v.Str
		}
		if v, ok := d.Get("arguments"); ok {
			c.Args = readArgs(v)
		}
		if v, ok := d.Get("subcommands"); ok && len(v.Elems) > 0 {
			c.Parent = true
			readDocs(t, v)
		}
		t[c.Name] = c
	}
}

func readArgs(list Reply) []Arg {
	out := make([]Arg, 0, len(list.Elems))
	for _, e := range list.Elems {
		var a Arg
		str := func(f string) string { v, _ := e.Get(f); return v.Str }
		a.Name, a.Type, a.Since = str("name"), str("type"), str("since")
		if v, ok := e.Get("token"); ok {
			a.Token, a.HasToken = v.Str, true
		}
		if v, ok := e.Get("flags"); ok {
			for _, f := range v.Elems {
				switch f.Str {
				case "optional":
					a.Optional = true
				case "multiple":
					a.Multiple = true
				case "multiple_token":
					a.EachTok = true
				}
			}
		}
		if v, ok := e.Get("arguments"); ok {
			a.Args = readArgs(v)
		}
		out = append(out, a)
	}
	return out
}

func readInfo(t Table, info Reply) {
	for _, e := range info.Elems {
		if len(e.Elems) < 3 {
			continue
		}
		name := strings.ToLower(e.Elems[0].Str)
		c := t[name]
		if c == nil { // undocumented, still callable
			c = &Command{Name: name}
			t[name] = c
		}
		if n, ok := e.Elems[1].Int(); ok {
			c.Arity = int(n)
		}
		for _, f := range e.Elems[2].Elems {
			c.Flags = append(c.Flags, f.Str)
		}
		if len(e.Elems) > 9 {
			readInfo(t, e.Elems[9])
		}
	}
}

// version returns "7.0.15" as a comparable number. Unknown text is the oldest version.
func version(s string) int {
	v := 0
	parts := strings.SplitN(s, ".", 4)
	for i := range 3 {
		n := 0
		if i < len(parts) {
			n, _ = strconv.Atoi(parts[i])
		}
		v = v*1000 + min(n, 999)
	}
	return v
}

// limit returns the tree without the arguments that came after version max. A stream must hold
// nothing that the reference server cannot know.
func limit(args []Arg, max int) []Arg {
	out := make([]Arg, 0, len(args))
	for _, a := range args {
		if a.Since != "" && version(a.Since) > max {
			continue
		}
		if len(a.Args) > 0 {
			a.Args = limit(a.Args, max)
			if len(a.Args) == 0 {
				continue
			}
		}
		out = append(out, a)
	}
	return out
}

// Grammar is what the generator knows of one command: its names, its arity, and up to two argument
// trees, those of the reference server and of the tested one. With both, it finds an option that
// the tested server lacks together with its documentation.
type Grammar struct {
	*Command
	Trees [][]Arg
	Arity int // of the tested server; Command has the reference's
}

// Coverage is the result of matching two tables.
type Coverage struct {
	Common   map[string]bool // both have it, generated or not
	Grammars []Grammar
	Missing  []string // the reference server has it, the tested one has not
	Newer    []string // the tested server has it, the reference one has not
}

// Match pairs the commands that both servers have. refVersion is the reference server's version
// ("7.0.15"). keep decides which commands take part.
func Match(ref, tested Table, refVersion string, keep func(*Command) bool) (Coverage, error) {
	cov := Coverage{Common: map[string]bool{}}
	limitTo := version(refVersion)
	if limitTo == 0 {
		return cov, fmt.Errorf("reference server has no version: %q", refVersion)
	}
	for _, name := range ref.Names() {
		r, g := ref[name], tested[name]
		cov.Common[name] = g != nil
		if r.Parent || !keep(r) {
			continue
		}
		if g == nil {
			cov.Missing = append(cov.Missing, name)
			continue
		}
		trees := [][]Arg{r.Args}
		if len(g.Args) > 0 {
			trees = append(trees, limit(g.Args, limitTo))
		}
		cov.Grammars = append(cov.Grammars, Grammar{Command: r, Trees: trees, Arity: g.Arity})
	}
	for _, name := range tested.Names() {
		if ref[name] == nil && !tested[name].Parent {
			cov.Newer = append(cov.Newer, name)
		}
	}
	return cov, nil
}
