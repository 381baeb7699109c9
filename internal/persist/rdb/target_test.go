package rdb

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReads holds Reads against the versions that servers load.
func TestReads(t *testing.T) {
	for _, c := range []struct {
		t    Target
		most int // version that it reads
	}{
		{Auto, VersionNacked}, {Redis5, 9}, {Redis70, 10}, {Redis72, 11}, {Redis74, 12},
		{ValkeyOwn, 11}, // of Redis's
	} {
		for _, v := range []int{Version, VersionStreams, VersionFieldDeadlines, VersionProducers,
			VersionNacked} {
			require.Equal(t, v <= c.most, c.t.Reads(v), "target %d, version %d", c.t, v)
		}
	}
}
