package server

import (
	"bytes"
	"io"
	"os"
	"os/exec"
)

// backgroundMark tells the process that it runs in the background. It is an environment variable
// and not an argument, so that the arguments stay what the administrator wrote.
const backgroundMark = "GODWIT_BACKGROUND"

// InBackground reports whether this process was started by StartInBackground.
func InBackground() bool { return os.Getenv(backgroundMark) != "" }

// Stdin is the standard input. What was read of it can be given to another process.
type Stdin struct {
	seen bytes.Buffer
	r    io.Reader
}

// ReplayableStdin returns the standard input.
func ReplayableStdin() *Stdin {
	s := &Stdin{}
	s.r = io.TeeReader(os.Stdin, &s.seen)
	return s
}

// Read implements io.Reader.
func (s *Stdin) Read(p []byte) (int, error) { return s.r.Read(p) }

// StartInBackground starts this program again, with the same arguments and input, in a session of
// its own without a terminal. A Go process cannot fork, so it starts anew.
func StartInBackground(in *Stdin) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), backgroundMark+"=1")
	cmd.SysProcAttr = newSession()
	if in.seen.Len() > 0 {
		// A pipe of our own: Start would copy with a goroutine that ends with this process.
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		defer r.Close()
		cmd.Stdin = r
		if err := cmd.Start(); err != nil {
			w.Close()
			return err
		}
		_, err = w.Write(in.seen.Bytes())
		w.Close()
		return err
	}
	return cmd.Start()
}
