package testserver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"godwit/internal/invariant"
)

// builds are the servers that Build has built, by their flags.
var builds struct {
	sync.Mutex
	dir  string
	done map[string]string
}

// Binary returns the path of the server under test: the one that GODWIT_BIN names, else Godwit,
// built as the test itself is. Under -race its races fail the tests too.
func Binary() (string, error) {
	var flags []string
	if Race {
		flags = append(flags, "-race")
	}
	if invariant.Enabled {
		flags = append(flags, "-tags", "invariants")
	}
	return BinaryWith(flags...)
}

// BinaryWith does what Binary does, with the given flags of go build instead of those of the test.
func BinaryWith(flags ...string) (string, error) {
	if bin := os.Getenv("GODWIT_BIN"); bin != "" {
		return bin, nil
	}
	return Build(flags...)
}

// Build builds the server with flags of go build and returns its path. It builds each kind of
// server once. RemoveBuilds removes them all.
//
// The server is a static binary as the one that users have: with libc, each thread would take 72 MB
// of addresses, and tests of limits would measure that. Only the race detector needs libc.
func Build(flags ...string) (string, error) {
	builds.Lock()
	defer builds.Unlock()
	key := strings.Join(flags, " ")
	if bin, ok := builds.done[key]; ok {
		return bin, nil
	}
	if builds.done == nil {
		var err error
		if builds.dir, err = os.MkdirTemp("", "godwit-build-"); err != nil {
			return "", err
		}
		builds.done = map[string]string{}
	}
	bin := filepath.Join(builds.dir, strconv.Itoa(len(builds.done)), "godwit-server")
	args := slices.Concat([]string{"build", "-o", bin}, flags, []string{"godwit/cmd/server"})
	cmd := exec.Command("go", args...)
	if !slices.Contains(flags, "-race") {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build godwit/cmd/server: %w\n%s", err, out)
	}
	builds.done[key] = bin
	return bin, nil
}

// RemoveBuilds removes what Build has built.
func RemoveBuilds() {
	builds.Lock()
	defer builds.Unlock()
	if builds.dir != "" {
		_ = os.RemoveAll(builds.dir) // in the folder for temporary files
	}
	builds.dir, builds.done = "", nil
}

// Main runs the tests of a package that builds servers, and returns the exit code for TestMain.
func Main(m *testing.M) int {
	defer RemoveBuilds()
	return m.Run()
}
