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
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// bullmqFiles says which packages of npm the test of BullMQ takes.
var bullmqFiles = []string{"package.json", "package-lock.json"}

// TestBullMQ runs the common paths of BullMQ, a queue for Node.js whose events are a stream.
// bullmq/paths.cjs is what runs. Without node, npm or the packages the test is skipped, in CI too:
// a registry that is down says nothing about the server.
func TestBullMQ(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip(err)
	}
	modules, err := bullmqModules(t.Context())
	if err != nil {
		t.Skipf("no BullMQ: %v", err)
	}
	s := startServer(t)
	_, port, _ := strings.Cut(s.Addr, ":")
	ctx, cancel := context.WithTimeout(t.Context(), 5*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, filepath.Join("bullmq", "paths.cjs"), port)
	cmd.Env = append(os.Environ(), "NODE_PATH="+modules)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Logf("%s", out)
}

// bullmqModules returns the folder with the packages, which it installs in the user's cache folder
// if that does not have them.
func bullmqModules(ctx context.Context) (string, error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, name := range bullmqFiles {
		text, err := os.ReadFile(filepath.Join("bullmq", name))
		if err != nil {
			return "", err
		}
		sum.Write(text)
	}
	cache = filepath.Join(cache, "godwit")
	dir := filepath.Join(cache, fmt.Sprintf("bullmq-%.6x", sum.Sum(nil)))
	modules := filepath.Join(dir, "node_modules")
	if _, err := os.Stat(dir); err == nil {
		return modules, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(cache, "bullmq-new-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(fresh)
	if err := installBullMQ(ctx, npm, fresh); err != nil {
		return "", err
	}
	// Another process may have been quicker.
	if err := os.Rename(fresh, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return modules, nil
}

// installBullMQ has npm install the packages in the folder.
func installBullMQ(ctx context.Context, npm, dir string) error {
	for _, name := range bullmqFiles {
		text, err := os.ReadFile(filepath.Join("bullmq", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
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
