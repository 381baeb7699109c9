package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// makeIn runs make in the root of the tree and returns what it prints.
func makeIn(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("make",
		append([]string{"-C", treeRoot, "--no-print-directory"}, args...)...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// TestMakeHelp wants every target that is meant for people in make help.
func TestMakeHelp(t *testing.T) {
	src, err := os.ReadFile(treeRoot + "/Makefile")
	require.NoError(t, err)
	help := makeIn(t, "help")
	targets := regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(string(src), -1)
	require.NotEmpty(t, targets)
	for _, m := range targets {
		if m[1] != "all" {
			require.Regexp(t, `(?m)^`+m[1]+` +\S`, help)
		}
	}
}

// TestInstall installs into a folder, twice, with a configuration that was changed in between, and
// takes the binary away again.
func TestInstall(t *testing.T) {
	dest := t.TempDir()
	server := filepath.Join(t.TempDir(), "godwit-server")
	require.NoError(t, os.WriteFile(server, []byte("#!/bin/sh\n"), 0o700))
	do := func(target string) {
		makeIn(t, target, "SERVER="+server, "DESTDIR="+dest, "PREFIX=/opt/godwit")
	}
	bin := filepath.Join(dest, "opt/godwit/bin/godwit-server")
	conf := filepath.Join(dest, "opt/godwit/etc/godwit.conf")
	want, err := os.ReadFile(treeRoot + "/conf/godwit.conf")
	require.NoError(t, err)

	do("install")
	do("install")
	require.NoFileExists(t, conf+".new")
	holds(t, conf, string(want), 0o644)
	holds(t, bin, "#!/bin/sh\n", 0o755)

	require.NoError(t, os.WriteFile(conf, []byte("port 7\n"), 0o644))
	do("install")
	holds(t, conf, "port 7\n", 0o644)
	holds(t, conf+".new", string(want), 0o644)

	do("uninstall")
	require.NoFileExists(t, bin)
	require.FileExists(t, conf)
}

// holds wants a file with that text and those permissions.
func holds(t *testing.T, path, text string, perm os.FileMode) {
	t.Helper()
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, text, string(got))
	fi, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, perm, fi.Mode().Perm())
}
