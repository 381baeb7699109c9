package integration

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// nodeFiles says which packages of npm the tests with Node.js take.
var nodeFiles = []string{"package.json", "package-lock.json"}

// TestBullMQ runs the common paths of BullMQ, a queue whose events are a stream.
func TestBullMQ(t *testing.T) { runNode(t, "bullmq.cjs") }

// TestNodeLibraries runs locks, limiters and queues that consist of scripts.
func TestNodeLibraries(t *testing.T) { runNode(t, "libraries.cjs") }

// runNode runs a program of the folder node against a server of its own. Without node, npm or the
// packages the test is skipped, in CI too: a registry that is down says nothing about the server.
func runNode(t *testing.T, program string) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip(err)
	}
	modules, err := nodeModules()
	if err != nil {
		t.Skipf("no packages: %v", err)
	}
	s := startServer(t)
	_, port, _ := strings.Cut(s.Addr, ":")
	ctx, cancel := context.WithTimeout(t.Context(), 5*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, filepath.Join("node", program), port)
	cmd.Env = append(os.Environ(), "NODE_PATH="+modules)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%s", out)
}

// nodeModules returns the folder with the packages, which it installs in the user's cache folder
// if that does not have them.
var nodeModules = sync.OnceValues(func() (string, error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, name := range nodeFiles {
		text, err := os.ReadFile(filepath.Join("node", name))
		if err != nil {
			return "", err
		}
		sum.Write(text)
	}
	cache = filepath.Join(cache, "godwit")
	dir := filepath.Join(cache, fmt.Sprintf("node-%.6x", sum.Sum(nil)))
	modules := filepath.Join(dir, "node_modules")
	if _, err := os.Stat(dir); err == nil {
		return modules, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(cache, "node-new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	if err := installPackages(npm, fresh); err != nil {
		return "", err
	}
	// Another process may have been quicker.
	if err := os.Rename(fresh, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return modules, nil
})

// installPackages has npm install the packages in the folder.
func installPackages(npm, dir string) error {
	for _, name := range nodeFiles {
		text, err := os.ReadFile(filepath.Join("node", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--omit=optional", "--no-audit",
		"--no-fund")
	cmd.Dir = dir
	cmd.WaitDelay = time.Second // its children may hold the output open
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w: %.500s", err, out)
	}
	return nil
}
