package testserver

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// nodeFiles say which packages of npm the tests with Node.js take.
var nodeFiles = []string{"package.json", "package-lock.json"}

// RunNode runs a program of Node.js with arguments for a test, which fails if the program does, and
// shows what it prints. The program is in a folder with a package.json. Without node, npm or the
// packages the test is skipped, in CI too: a registry that is down says nothing about the server.
func RunNode(t *testing.T, program string, args ...string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip(err)
	}
	modules, err := nodeModules(filepath.Dir(program))
	if err != nil {
		t.Skipf("no packages: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, append([]string{program}, args...)...)
	cmd.Env = append(os.Environ(), "NODE_PATH="+modules)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
	t.Logf("%s", out)
}

// npm serializes installations within the process.
var npm sync.Mutex

// nodeModules returns the folder with the packages that a folder asks for. It installs them in the
// user's cache folder if that does not have them.
func nodeModules(folder string) (string, error) {
	npm.Lock()
	defer npm.Unlock()
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, name := range nodeFiles {
		text, err := os.ReadFile(filepath.Join(folder, name))
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
	if err := installPackages(folder, fresh); err != nil {
		return "", err
	}
	// Another process may have been quicker.
	if err := os.Rename(fresh, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return modules, nil
}

// installPackages has npm install the packages that a folder asks for in dir.
func installPackages(folder, dir string) error {
	for _, name := range nodeFiles {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--omit=optional",
		"--no-audit", "--no-fund")
	cmd.Dir = dir
	cmd.WaitDelay = time.Second // its children may hold the output open
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w: %.500s", err, out)
	}
	return nil
}
