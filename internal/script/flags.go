package script

import (
	"bytes"
	"slices"
	"strings"
)

// Flags are what a script declares in its first line.
type Flags uint8

// The flags of scripts.
const (
	NoWrites Flags = 1 << iota
	AllowOOM
	AllowStale
	NoCluster
	AllowCrossSlotKeys
)

// flagNames are the names of the flags, in the order of their bits.
var flagNames = [...]string{"no-writes", "allow-oom", "allow-stale", "no-cluster",
	"allow-cross-slot-keys"}

// FlagOf returns the flag of a name, or 0.
func FlagOf(name string) Flags {
	if i := slices.Index(flagNames[:], name); i >= 0 {
		return 1 << i
	}
	return 0
}

// Names returns the names of the flags that are set.
func (f Flags) Names() []string {
	var names []string
	for i, n := range flagNames {
		if f&(1<<i) != 0 {
			names = append(names, n)
		}
	}
	return names
}

// Declares returns the flags that the first line of a script declares, and false if there is no
// such line or it is wrong. It neither compiles the script nor keeps it, and copies the first line
// only: MULTI asks for each EVAL.
func Declares(body []byte) (Flags, bool) {
	if !bytes.HasPrefix(body, []byte("#!")) {
		return 0, false
	}
	var sc Script
	_, err := sc.header(string(body[:bytes.IndexByte(body, '\n')+1]))
	return sc.Flags, err == nil && sc.Declared
}

// header reads the declaration in a script's first line, if there is one. It returns the rest.
func (sc *Script) header(body string) (code string, err error) {
	if !strings.HasPrefix(body, "#!") {
		return body, nil
	}
	line, code, ok := firstLine(body)
	if !ok {
		return "", CompileError("Invalid script shebang")
	}
	return code, sc.shebang(line)
}

// shebang reads the words of the declaration.
func (sc *Script) shebang(line string) error {
	parts, ok := splitLine(line)
	if !ok {
		return CompileError("Invalid engine in script shebang")
	}
	if parts[0] != "#!lua" {
		return CompileError("Unexpected engine in script shebang: " + parts[0])
	}
	sc.Declared = true
	for _, p := range parts[1:] {
		list, ok := strings.CutPrefix(p, "flags=")
		if !ok {
			return CompileError("Unknown lua shebang option: " + p)
		}
		if list == "" {
			continue
		}
		for _, name := range strings.Split(list, ",") {
			f := FlagOf(name)
			if f == 0 {
				return CompileError("Unexpected flag in script shebang: " + name)
			}
			sc.Flags |= f
		}
	}
	return nil
}
