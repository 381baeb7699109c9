package soak

import (
	"testing"

	"godwit/internal/testserver"
)

// redis returns the path of the newest Redis. Without one nothing is compared, as the subtest that
// is skipped says; in CI that is a failure.
func redis(t *testing.T) (path string) {
	t.Run("Redis to compare with", func(t *testing.T) {
		path = testserver.Redis.Program(t, "server")
	})
	return path
}
