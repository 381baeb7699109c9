package script

import (
	"bytes"
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

// FlagOf returns the flag of a name, or 0.
func FlagOf(name string) Flags {
	switch name {
	case "no-writes":
		return NoWrites
	case "allow-oom":
		return AllowOOM
	case "allow-stale":
		return AllowStale
	case "no-cluster":
		return NoCluster
	case "allow-cross-slot-keys":
		return AllowCrossSlotKeys
	}
	return 0
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
