package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

var shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// TestPage runs commands of docs/cluster.md as they stand there, at other ports and in other
// folders: a cluster is made, a replica takes over on request, and a backup is written.
func TestPage(t *testing.T) {
	takesLong(t)
	each(t, func(t *testing.T, k testserver.Kind) {
		text, err := os.ReadFile("../../docs/cluster.md")
		require.NoError(t, err)
		blocks := shellBlock.FindAllStringSubmatch(string(text), -1)
		sh := &shell{dir: testserver.Dir(t), program: k.Program(t)}
		sh.prepare(t)
		for i := range 6 {
			t.Cleanup(func() { sh.try(fmt.Sprintf("redis-cli -p 700%d shutdown nosave", i)) })
		}
		ran := 0
		for _, b := range blocks {
			switch {
			case strings.Contains(b[1], "--cluster create"):
				out := sh.run(t, b[1])
				require.Contains(t, out, "OK\n")
			case strings.Contains(b[1], "cluster failover"):
				eventually(t, func() bool {
					out, err := sh.try("redis-cli -p 7003 info replication")
					return err == nil && strings.Contains(out, "master_link_status:up")
				}, "a replica follows")
				require.Equal(t, "OK\n", sh.run(t, b[1]))
				eventually(t, func() bool {
					out, err := sh.try("redis-cli -p 7003 role")
					return err == nil && strings.HasPrefix(out, "master")
				}, "it is a master")
			case strings.Contains(b[1], "--cluster backup"):
				sh.run(t, b[1])
				require.FileExists(t, filepath.Join(sh.dir, "backup/nodes.json"))
			default:
				continue
			}
			ran++
		}
		require.Equal(t, 3, ran)
	})
}

// comment finds directives of an example that are only shown: "# port 7".
var comment = regexp.MustCompile(`(?m)^# ([a-z]+-[a-z-]+ \S.*)$`)

// TestConf starts a node with conf/cluster.conf, and a Godwit with all that it shows.
func TestConf(t *testing.T) {
	takesLong(t)
	each(t, func(t *testing.T, k testserver.Kind) {
		text, err := os.ReadFile("../../conf/cluster.conf")
		require.NoError(t, err)
		if k == testserver.Godwit {
			require.Len(t, comment.FindAll(text, -1), 8)
			text = comment.ReplaceAll(text, []byte("$1"))
		}
		dir := testserver.Dir(t)
		path := filepath.Join(dir, "cluster.conf")
		require.NoError(t, os.WriteFile(path, text, 0o644))
		port, err := testserver.ClusterPort()
		require.NoError(t, err)
		s := testserver.Run(t, testserver.Options{Program: k.Program(t), Dir: dir,
			Args: []string{path, "--port", fmt.Sprint(port), "--dir", dir}})
		info, err := s.Info("cluster")
		require.NoError(t, err)
		require.Equal(t, "1", info["cluster_enabled"])
	})
}

// shell runs commands of a page in a place of their own.
type shell struct {
	dir, program string
	ports        *strings.Replacer
}

// prepare makes the programs that the page names, and chooses ports.
func (s *shell) prepare(t *testing.T) {
	bin := filepath.Join(s.dir, "bin")
	require.NoError(t, os.Mkdir(bin, 0o755))
	for name, program := range map[string]string{"godwit-server": s.program,
		"redis-cli": testserver.Redis.Program(t, "cli")} {
		script := fmt.Sprintf("#!/bin/sh\nexec '%s' \"$@\"\n", program)
		require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755))
	}
	pairs := []string{"/tmp/", s.dir + "/"}
	for i := range 6 {
		port, err := testserver.ClusterPort()
		require.NoError(t, err)
		pairs = append(pairs, fmt.Sprint(7000+i), fmt.Sprint(port))
	}
	s.ports = strings.NewReplacer(pairs...)
}

func (s *shell) run(t *testing.T, text string) string {
	t.Helper()
	out, err := s.try(text)
	require.NoError(t, err, "%s\n%s", text, out)
	return out
}

func (s *shell) try(text string) (string, error) {
	cmd := exec.Command("bash", "-euc", s.ports.Replace(text))
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(s.dir, "bin")+":"+os.Getenv("PATH"))
	cmd.Dir = s.dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}
