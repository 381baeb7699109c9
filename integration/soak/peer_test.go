package soak

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// redis returns the path of a Redis of version 8 or later. Without one nothing is compared, which
// the test says; in CI that is a failure.
func redis(t *testing.T) string {
	t.Helper()
	for _, path := range []string{filepath.Join(os.Getenv("GODWIT_PEERS"), "bin", "redis-server"), "redis-server"} {
		out, err := exec.Command(path, "--version").Output()
		if m := regexp.MustCompile(`v=(\d+)\.`).FindSubmatch(out); err == nil && m != nil {
			if major, _ := strconv.Atoi(string(m[1])); major >= 8 {
				return path
			}
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("no Redis 8 to compare with")
	}
	t.Log("no Redis 8: nothing is compared, only the bounds of our own hold")
	return ""
}
