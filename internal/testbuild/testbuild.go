// Package testbuild builds the server for tests and tools that run it as a process.
package testbuild

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
)

// Server builds the server to the file bin, with further flags of go build. Like the binary of
// users it is static: with libc, each thread would take 72 MB of addresses, and tests of limits
// would measure that. Only the race detector needs libc.
func Server(bin string, flags ...string) error {
	args := append([]string{"build", "-o", bin}, flags...)
	cmd := exec.Command("go", append(args, "godwit/cmd/server")...)
	if !slices.Contains(flags, "-race") {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build godwit/cmd/server: %w\n%s", err, out)
	}
	return nil
}
