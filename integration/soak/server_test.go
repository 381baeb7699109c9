package soak

import (
	"os"
	"testing"

	"godwit/internal/testserver"
)

// patience is how long a server may take for something short unless it hangs.
const patience = testserver.Patience

func TestMain(m *testing.M) { os.Exit(testserver.Main(m)) }

// launch starts a server in a folder of its own and waits until it answers.
func launch(bin string) (*testserver.Server, error) {
	dir, err := os.MkdirTemp("", "godwit-soak-")
	if err != nil {
		return nil, err
	}
	s, err := testserver.Start(testserver.Options{Program: bin, Dir: dir,
		Args: []string{"--enable-debug-command", "local",
			"--busy-reply-threshold", "0"}}) // a script that a busy machine delays is no error
	if err != nil {
		_ = os.RemoveAll(dir) // the error holds the end of the log
	}
	return s, err
}
