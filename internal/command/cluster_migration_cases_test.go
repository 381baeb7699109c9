package command

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/cluster/topology"
	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

// migrationFiles returns the case files of migrations, which Valkey judges. They are in the world
// of those of clusters. "topology migrations held" keeps migrations from ending, "topology
// migrations over" waits until all have ended.
func migrationFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/migration/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// TestMigrationCases runs the case files on an engine that is a node of a cluster.
func TestMigrationCases(t *testing.T) {
	for _, file := range migrationFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			l := newClusterLocal(t, filepath.Base(file)[:1])
			runCases(t, file, l, func(*caseBlock) bool { return false })
		})
	}
}

// TestMigrationCasesValkey9 runs them on a node of a cluster of Valkey 9. With -rewrite it puts the
// node's replies into the files.
func TestMigrationCasesValkey9(t *testing.T) {
	if !*clusterJudge {
		t.Skip("takes -cluster")
	}
	for _, file := range migrationFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			r := startClusterRemote(t, testserver.Valkey, filepath.Base(file)[:1])
			got := runCases(t, file, r, func(*caseBlock) bool { return false })
			if *rewrite && !t.Failed() {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
			}
		})
	}
}

// propose applies an entry at once.
func (l *clusterLocal) propose(op topology.Op, done func(refusal string)) {
	refusal := l.state.Apply(l.state.Index+1, op)
	l.install()
	done(refusal)
}

// migrations ends all migrations. None ends by itself.
func (l *clusterLocal) migrations(t testing.TB, how string) {
	t.Helper()
	if how != "over" {
		return
	}
	for _, m := range l.state.Migrations {
		if !m.Over() {
			for _, a := range []topology.Action{topology.Receive{ID: m.ID},
				topology.Advance{ID: m.ID, Phase: topology.Closed},
				topology.Advance{ID: m.ID, Phase: topology.Done}} {
				op := topology.Op{By: m.Target, Do: a}
				require.Empty(t, l.state.Apply(l.state.Index+1, op))
			}
		}
	}
}

// migrations keeps migrations from ending, or waits until all have ended.
func (r *clusterRemote) migrations(t testing.TB, how string) {
	t.Helper()
	hold := map[string]string{"held": "1", "over": "0"}[how]
	for letter, s := range r.nodes {
		if letter <= "c" {
			v, err := s.Do("DEBUG", "SLOTMIGRATION", "PREVENT-PAUSE", hold)
			require.NoError(t, err)
			require.Equal(t, "OK", v.Text())
		}
	}
	if how == "held" {
		return
	}
	wait(t, func() bool {
		v, err := r.s.Do("CLUSTER", "GETSLOTMIGRATIONS")
		require.NoError(t, err)
		for _, m := range v.Elems {
			i := slices.IndexFunc(m.Elems, func(e client.Value) bool { return e.Str == "state" })
			if !slices.Contains(finalStates, m.Elems[i+1].Str) {
				return false
			}
		}
		return true
	})
}

var (
	finalStates   = []string{"success", "failed", "cancelled"}
	migrationName = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

// steadyMigration replaces what differs between the replies of two servers to CLUSTER
// GETSLOTMIGRATIONS: names, and how far a migration is that has not ended.
func steadyMigration(field, value string) string {
	switch {
	case field == "name" && migrationName.MatchString(value):
		return "(name)"
	case field == "state" && !slices.Contains(finalStates, value):
		return "under way"
	}
	return value
}
