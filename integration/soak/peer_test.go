package soak

import (
	"testing"

	"godwit/internal/testserver"
)

// redis returns the path of the newest Redis. If there is none, nothing is compared, and a skipped
// subtest says so. In CI that is a failure.
func redis(t *testing.T) (path string) {
	t.Run("Redis to compare with", func(t *testing.T) {
		path = testserver.Redis.Program(t, "server")
	})
	return path
}
