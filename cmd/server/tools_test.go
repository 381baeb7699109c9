package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCheckers runs the checkers of files as an administrator does: exit codes, the question before
// a file is changed.
func TestCheckers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	set := "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n"
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	sound, empty := file("sound.aof", set), file("empty.rdb", "REDIS0004\xff")
	library := file("library.rdb", "REDIS0010\xf5\x0f#!js name=x\nx()\xff"+
		strings.Repeat("\x00", 8))
	timed := file("timed.aof", "#TS:5\r\n"+set+"#TS:6\r\n"+set)
	torn := func() string { return file("torn.aof", set+set[:10]) }
	for _, c := range []struct {
		args  []string
		stdin string
		code  int
		want  string
	}{
		{[]string{"--check-rdb", empty}, "", 0, "RDB looks OK"},
		{[]string{"--check-rdb", sound}, "", 1, "RDB ERROR DETECTED"},
		{[]string{"--check-rdb", library}, "", 1, "[in the way] 1 of libraries of functions"},
		{[]string{"--check-rdb"}, "", 1, "Usage"},
		{[]string{"--check-rdb", "--fix", empty}, "", 1, "Usage"},
		{[]string{"--check-aof", sound}, "", 0, "is valid"},
		{[]string{"--check-aof", sound, sound}, "", 1, "Usage"},
		{[]string{"--check-aof", torn()}, "y\n", 1, "Use the --fix option"},
		{[]string{"--check-aof", "--fix", torn()}, "", 1, "Continue? [y/N]"},
		{[]string{"--check-aof", "--fix", torn()}, "n\n", 1, "Aborting"},
		{[]string{"--check-aof", "--fix", torn()}, "y\n", 0, "Successfully truncated"},
		{[]string{"--check-aof", torn()}, "", 1, "not valid"},
		{[]string{"--check-aof", "--fix", "-y", torn()}, "", 0, "Successfully truncated"},
		{[]string{"--check-aof", "--truncate-to-timestamp", "5", timed}, "", 0,
			"Successfully truncated"},
		{[]string{"--check-aof", "--truncate-to-timestamp", "5", timed}, "", 0, "Truncate nothing"},
		{[]string{"--check-aof", "--truncate-to-timestamp", "5x", timed}, "", 1,
			"Invalid timestamp"},
		{[]string{"--check-aof", "--truncate-to-timestamp", "5"}, "", 1, "Usage"},
		{[]string{"--check-aof", "--fix", "--truncate-to-timestamp", "5", timed}, "", 1, "Usage"},
	} {
		if strings.HasSuffix(c.args[len(c.args)-1], "torn.aof") {
			torn()
		}
		cmd := exec.Command(os.Args[0], c.args...)
		cmd.Env = append(os.Environ(), asServer+"=1")
		cmd.Stdin = strings.NewReader(c.stdin)
		out, err := cmd.CombinedOutput()
		if c.code == 0 {
			require.NoError(t, err, "%v\n%s", c.args, out)
		}
		require.Equal(t, c.code, cmd.ProcessState.ExitCode(), "%v\n%s", c.args, out)
		require.Contains(t, string(out), c.want, "%v", c.args)
	}
	left, err := os.ReadFile(filepath.Join(dir, "torn.aof"))
	require.NoError(t, err)
	require.Equal(t, set, string(left))
}
