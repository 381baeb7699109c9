package lint

import (
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// wallClock says how many lines of each file read the wall clock: the engine's, or the system's as
// a number. That clock may be set back by decades. Only deadlines of keys and fields, and times
// that are shown, go by it. Periods, pauses, timeouts and ages take Engine.Steady or a time.Time.
var wallClock = map[string]int{
	"cmd/server/tools.go":                      1, // --check-rdb: deadlines
	"internal/cluster/bus/link.go":             1, // CLUSTER NODES shows when a node was heard
	"internal/command/cluster_migrateslots.go": 2, // when a migration began, or was cancelled
	"internal/command/cluster_migration.go":    1, // when a migration began
	"internal/command/dump.go":                 1, // RESTORE: a deadline
	"internal/command/hash_expire.go":          3, // deadlines of fields
	"internal/command/info_server.go":          1, // server_time_usec
	"internal/command/info_tls.go":             1, // when a certificate expires
	"internal/command/latency.go":              2, // LATENCY shows times
	"internal/command/migrate.go":              1, // time to live
	"internal/command/server.go":               1, // TIME
	"internal/command/stream_add.go":           1, // IDs are times
	"internal/command/stream_claim.go":         6, // times of deliveries
	"internal/command/stream_group.go":         1, // when a consumer was seen
	"internal/command/stream_idmp.go":          2, // the age of an ID
	"internal/command/stream_info.go":          2, // how long ago a consumer was seen
	"internal/command/stream_pending.go":       1, // how long ago an entry was delivered
	"internal/command/stream_readclaim.go":     1, // how long ago an entry was delivered
	"internal/command/stream_readgroup.go":     2, // when a consumer was seen
	"internal/command/string_options.go":       2, // EX, PX
	"internal/command/throttle.go":             1, // the bucket's time is its key's deadline
	"internal/engine/blocking_serve.go":        1, // Ctx.Now
	"internal/engine/call.go":                  2, // SLOWLOG and LATENCY show times
	"internal/engine/clustermigrateend.go":     1, // a migration's end, as all show it
	"internal/engine/clustermigration.go":      1, // STATUS shows times
	"internal/engine/clusterlease.go":          1, // it tells when the machine has slept
	"internal/engine/clock.go":                 7, // the clock itself
	"internal/engine/commandlog.go":            2, // COMMANDLOG shows times
	"internal/engine/cron.go":                  2, // the next deadline of a key, the age of an ID
	"internal/engine/ctx.go":                   1, // Ctx.Past
	"internal/engine/exec.go":                  1, // Ctx.Now
	"internal/engine/hotkeys.go":               1, // HOTKEYS shows when it began
	"internal/engine/loading.go":               1, // loading_start_time
	"internal/engine/memory.go":                2, // used_memory_peak_time
	"internal/engine/monitor.go":               1, // MONITOR shows times
	"internal/engine/nested.go":                1, // Ctx.Now
	"internal/engine/permit.go":                1, // ACL LOG shows when
	"internal/engine/persistence.go":           1, // LASTSAVE
	"internal/engine/scriptrun.go":             1, // Ctx.Now
	"internal/engine/start.go":                 1, // the keyspace's clock
	"internal/engine/stats.go":                 2, // LATENCY shows times
	"internal/engine/storehost.go":             1, // Ctx.Now
	"internal/logging/format.go":               1, // log-timestamp-format milliseconds
	"internal/persist/check_rdb.go":            2, // --check-rdb: deadlines
	"internal/persist/load.go":                 1, // the log shows a file's age
	"internal/server/clusternode.go":           1, // CLUSTER LINKS shows times
	"internal/server/tls_reload.go":            1, // when a certificate expires
}

var readsWallClock = regexp.MustCompile(
	`\b(e|eng|E)\.(now\b|Now\(\)|NowMicros|NowNanos|WallNow)|` +
		`\bc\.Now\b|\bUnix(Milli|Nano|Micro)?\(\)`)

// TestWallClock compares every file with its line of wallClock. A new reader of the wall clock is a
// new line there, or a mistake.
func TestWallClock(t *testing.T) {
	left := maps.Clone(wallClock)
	walkTree(t, func(rel, text string) {
		if !program(rel) {
			return
		}
		n := 0
		for line := range strings.Lines(text) {
			if code, _, _ := strings.Cut(line, "//"); readsWallClock.MatchString(code) {
				n++
			}
		}
		if allowed := wallClock[rel]; n != allowed {
			t.Errorf("%s reads the wall clock in %d lines, not %d: is Engine.Steady meant?",
				rel, n, allowed)
		}
		delete(left, rel)
	}, "internal", "cmd")
	require.Empty(t, left, "no such files")
}
