package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"godwit/internal/testseed"
	"godwit/internal/testserver"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// redisCLI returns the path of redis-cli. Without one it skips the test, or fails it in CI.
func redisCLI(t testing.TB) string {
	t.Helper()
	return testserver.Program(t, "redis-cli")
}

// cli runs redis-cli with lines on its standard input and returns what it prints for a person.
func (s *server) cli(t testing.TB, input string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), redisCLI(t),
		append([]string{"-p", strconv.Itoa(s.Port), "--no-raw"}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("redis-cli %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestSeeds runs sessions of redis-cli as courses about Redis print them. Empty lines separate the
// sections, and each section begins with no keys. The reply to a command after >~ comes in any
// order. The courses are older than Redis 7.2, which prints doubles with fewer digits.
func TestSeeds(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/seeds-*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, args := range [][]string{{}, {"--io-threads", "2"}} {
		s := startServer(t, args...)
		for _, path := range files {
			raw, err := os.ReadFile(path)
			require.NoError(t, err)
			for i, section := range strings.Split(strings.TrimSpace(string(raw)), "\n\n") {
				do(t, s.dial(t), "FLUSHALL")
				var commands, want []string
				var unordered bool
				for line := range strings.SplitSeq(section, "\n") {
					if cmd, ok := strings.CutPrefix(line, "> "); ok {
						commands = append(commands, cmd)
					} else if cmd, ok := strings.CutPrefix(line, ">~ "); ok {
						commands, unordered = append(commands, cmd), true
					} else {
						want = append(want, longDouble.ReplaceAllStringFunc(line, shortest))
					}
				}
				got := strings.Split(strings.TrimSpace(s.cli(t, strings.Join(commands, "\n")+"\n")),
					"\n")
				if unordered {
					want, got = withoutOrder(want), withoutOrder(got)
				}
				require.Equal(t, want, got, "%s, section %d:\n%s", path, i+1, section)
			}
		}
	}
}

var longDouble = regexp.MustCompile(`-?\d+\.\d{12,}`)

// shortest returns the number with as few digits as a double needs.
func shortest(number string) string {
	f, _ := strconv.ParseFloat(number, 64)
	return strconv.FormatFloat(f, 'f', -1, 64)
}

var element = regexp.MustCompile(`^ *\d+\) `)

// withoutOrder sorts each run of elements of arrays.
func withoutOrder(lines []string) []string {
	out := slices.Clone(lines)
	for i := 0; i < len(out); i++ {
		j := i
		for ; j < len(out) && element.MatchString(out[j]) &&
			(j == i || !strings.HasPrefix(out[j], "1) ")); j++ {
			out[j] = element.ReplaceAllString(out[j], "- ")
		}
		slices.Sort(out[i:j])
	}
	return out
}

// fillKeys sets key0 … key(n-1).
func fillKeys(t testing.TB, c *redis.Client, n int) {
	t.Helper()
	p := c.Pipeline()
	for i := range n {
		p.Set(t.Context(), fmt.Sprintf("key%d", i), i, 0)
		if p.Len() == 1000 || i == n-1 {
			if _, err := p.Exec(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestSeedScan runs the search for keys of the courses. Of 10,000 keys 111 begin with key99, and
// each step looks at about a thousand.
func TestSeedScan(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	fillKeys(t, s.client(t), 10_000)
	want := []string{"key99"}
	for i := range 10 {
		want = append(want, fmt.Sprint("key99", i))
		for j := range 10 {
			want = append(want, fmt.Sprintf("key99%d%d", i, j))
		}
	}
	var got []string
	cursor, steps := "0", 0
	for {
		out := strings.Split(strings.TrimSpace(s.cli(t, "",
			"scan", cursor, "match", "key99*", "count", "1000")), "\n")
		m := regexp.MustCompile(`^1\) "(\d+)"$`).FindStringSubmatch(out[0])
		require.NotNil(t, m, "%q", out)
		require.True(t, strings.HasPrefix(out[1], "2) "), "%q", out)
		out[1] = "   " + out[1][3:]
		for _, line := range out[1:] {
			if key := regexp.MustCompile(`^ +\d+\) "(.*)"$`).FindStringSubmatch(line); key != nil {
				got = append(got, key[1])
			} else {
				require.Equal(t, "   (empty array)", line)
			}
		}
		steps++
		if cursor = m[1]; cursor == "0" {
			break
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	require.Equal(t, want, slices.Compact(got))
	require.Greater(t, steps, 5, "COUNT bounds a step")
	require.Less(t, steps, 25)

	lines := strings.Fields(s.cli(t, "", "--raw", "--scan", "--pattern", "key99*"))
	slices.Sort(lines)
	require.Equal(t, want, slices.Compact(lines))
}

// TestScanGuarantee checks that a full iteration reports every key that was there all the time, and
// no key that never was. Other keys come and go meanwhile, and the table resizes.
func TestScanGuarantee(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"--io-threads", "3"}} {
		s := startServer(t, args...)
		c := s.client(t, func(o *redis.Options) { o.PoolSize = 2 })
		fillKeys(t, c, 10_000)
		rnd := testseed.Rand(t)
		for round, churn := range []func(p redis.Pipeliner, step int){
			func(p redis.Pipeliner, step int) { // the table grows, twice at least
				for i := range 150 {
					p.Set(t.Context(), fmt.Sprint("new", step, ":", i), "v", 0)
				}
			},
			func(p redis.Pipeliner, step int) { // and shrinks
				for i := range 150 {
					p.Del(t.Context(), fmt.Sprint("new", step, ":", i))
				}
			},
			func(p redis.Pipeliner, _ int) { // and churns
				for range 200 {
					k := fmt.Sprint("boil", rnd.IntN(5000))
					if rnd.IntN(2) == 0 {
						p.Set(t.Context(), k, "v", time.Duration(1+rnd.IntN(50))*time.Millisecond)
					} else {
						p.Unlink(t.Context(), k)
					}
				}
			},
		} {
			scanMeanwhile(t, c, round, churn)
		}
	}
}

func scanMeanwhile(t *testing.T, c *redis.Client, round int,
	churn func(p redis.Pipeliner, step int)) {
	t.Helper()
	seen := map[string]bool{}
	var cursor uint64
	for step := 0; ; step++ {
		require.Less(t, step, 5000, "the iteration does not end")
		keys, next, err := c.Scan(t.Context(), cursor, "", 97).Result()
		require.NoError(t, err)
		for _, k := range keys {
			require.Regexp(t, `^(key\d+|new\d+:\d+|boil\d+)$`, k)
			seen[k] = true
		}
		if cursor = next; cursor == 0 {
			break
		}
		p := c.Pipeline()
		churn(p, step)
		_, err = p.Exec(t.Context())
		require.NoError(t, err)
	}
	for i := range 10_000 {
		if k := fmt.Sprintf("key%d", i); !seen[k] {
			t.Fatalf("round %d: %s was there all the time and is missing", round, k)
		}
	}
}

// TestSeedLock runs the lock of the courses: an owner's token, a deadline, and a release that only
// the owner can do.
func TestSeedLock(t *testing.T) {
	godwitOnly(t) // DELIFEQ and DELEX
	t.Parallel()
	s := startServer(t)
	c, ctx := s.client(t), t.Context()
	ok, err := c.SetNX(ctx, "lock", "one", 50*time.Millisecond).Result()
	require.NoError(t, err)
	require.True(t, ok)
	require.False(t, c.SetNX(ctx, "lock", "two", time.Minute).Val())
	eventually(t, "the lock of a holder that died falls free", func() bool {
		return c.SetNX(ctx, "lock", "two", time.Minute).Val()
	})
	require.EqualValues(t, 0, c.Do(ctx, "DELIFEQ", "lock", "one").Val(),
		"the late first owner does not release the second's")
	require.EqualValues(t, 0, c.Do(ctx, "DELEX", "lock", "IFEQ", "one").Val())
	require.EqualValues(t, 1, c.Do(ctx, "DELIFEQ", "lock", "two").Val())
}
