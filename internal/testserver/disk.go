package testserver

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// OwnDisk returns a function that returns a command that runs a server whose folder is a disk of
// its own, of some size like "4m". The disk ends with the process. The test is skipped if the
// system does not let it.
func OwnDisk(t testing.TB, size string) func(dir string) []string {
	t.Helper()
	return mounted(t, `mount -t tmpfs -o size="$1" none "$0"`, size)
}

// ReadOnly is OwnDisk with what the folder holds, which cannot be changed.
func ReadOnly(t testing.TB) func(dir string) []string {
	t.Helper()
	return mounted(t, `mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"`, "")
}

// mounted has a shell mount something at the folder $0, seen by the server alone.
func mounted(t testing.TB, mount, arg string) func(dir string) []string {
	t.Helper()
	wrap := func(dir string) []string {
		return []string{"unshare", "-rm", "sh", "-c", mount + ` && cd "$0" && shift && exec "$@"`,
			dir, arg}
	}
	dir := Dir(t)
	p, err := Launch(Options{Program: "true", Dir: dir, Exact: true, Wrap: wrap(dir)})
	if os.IsNotExist(err) {
		t.Skip("there is no unshare")
	}
	if err != nil {
		t.Fatal(err)
	}
	if <-p.Done(); p.ExitCode() != 0 {
		t.Skip("mounting is not allowed: " + p.Tail())
	}
	return wrap
}

// Inside returns the path of a file in the server's folder as the server sees it, also where that
// is a disk of its own.
func (s *Server) Inside(name string) string {
	return filepath.Join("/proc", strconv.Itoa(s.Pid), "root", s.Dir, name)
}
