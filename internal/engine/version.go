package engine

import "runtime/debug"

// Version is Godwit's own. The version of Redis that it reports to clients is in the configuration.
const Version = "0.1.0"

// Build says what the binary was built from.
type Build struct {
	Commit string // in full, "" if it is not known
	Dirty  int    // 1 if the tree had changes
}

// ReadBuild returns what the Go toolchain has noted in the binary.
func ReadBuild() (b Build) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 16:
			b.Commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			b.Dirty = 1
		}
	}
	return b
}

// Sha returns eight hexadecimal digits of the commit, zeros if it is not known.
func (b Build) Sha() string {
	if b.Commit == "" {
		return "00000000"
	}
	return b.Commit[:8]
}

// ID returns sixteen digits of the commit, "0" if it is not known.
func (b Build) ID() string {
	if b.Commit == "" {
		return "0"
	}
	return b.Commit[:16]
}
