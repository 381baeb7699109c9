package integration

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
)

// filters makes Bloom filters of both kinds, small, grown and large, if the server has them.
func filters(t testing.TB, c *client.Client) {
	t.Helper()
	if !built.godwit {
		return
	}
	for _, hash := range []string{"murmur3", "murmur64a"} {
		do(t, c, "CONFIG", "SET", "bf-hash", hash)
		do(t, c, "BF.RESERVE", "bf:large:"+hash, "0.001", "2000000")
		do(t, c, "BF.RESERVE", "bf:still:"+hash, "0.01", "50", "NONSCALING")
		for i := range 3000 {
			c.Queue("BF.ADD", "bf:grown:"+hash, fmt.Sprint("item:", i))
			c.Queue("BF.MADD", "bf:large:"+hash, fmt.Sprint("item:", i), fmt.Sprint("other:", i))
			if i < 60 {
				c.Queue("BF.MADD", "bf:still:"+hash, fmt.Sprint("item:", i), "again")
			}
		}
		vs, err := c.Pipeline()
		require.NoError(t, err)
		for _, v := range vs {
			require.False(t, v.IsError(), v)
		}
		do(t, c, "PEXPIRE", "bf:large:"+hash, "100000000")
	}
	do(t, c, "CONFIG", "SET", "bf-hash", "murmur3")
}

// TestBloom calls the methods of a client library.
func TestBloom(t *testing.T) {
	godwitOnly(t)
	everywhere(t, func(e *env) {
		require.NoError(e, e.c.BFReserve(e.ctx, "f", 0.001, 1000).Err())
		require.EqualError(e, e.c.BFReserve(e.ctx, "f", 0.001, 1000).Err(), "ERR item exists")
		require.True(e, e.c.BFAdd(e.ctx, "f", "a").Val())
		require.False(e, e.c.BFAdd(e.ctx, "f", "a").Val())
		require.Equal(e, []bool{false, true, true}, e.c.BFMAdd(e.ctx, "f", "a", "b", "c").Val())
		require.Equal(e, []bool{true, false}, e.c.BFMExists(e.ctx, "f", "c", "d").Val())
		require.True(e, e.c.BFExists(e.ctx, "f", "b").Val())
		require.False(e, e.c.BFExists(e.ctx, "none", "b").Val())
		require.EqualValues(e, 3, e.c.BFCard(e.ctx, "f").Val())
		in, err := e.c.BFInfo(e.ctx, "f").Result()
		require.NoError(e, err)
		require.Equal(e, redis.BFInfo{Capacity: 1000, Size: in.Size, Filters: 1, ItemsInserted: 3,
			ExpansionRate: 2}, in)
		require.Greater(e, in.Size, int64(1000))
		require.EqualValues(e, 1000, e.c.BFInfoCapacity(e.ctx, "f").Val().Capacity)
		require.EqualValues(e, 2, e.c.BFInfoExpansion(e.ctx, "f").Val().ExpansionRate)
		require.NoError(e, e.c.BFReserveNonScaling(e.ctx, "still", 0.01, 2).Err())
		require.Equal(e, []bool{true, true}, e.c.BFInsert(e.ctx, "still", nil, "x", "y").Val())
		require.EqualError(e, e.c.BFAdd(e.ctx, "still", "z").Err(),
			"ERR non scaling filter is full")
		require.EqualError(e,
			e.c.BFInsert(e.ctx, "none", &redis.BFInsertOptions{NoCreate: true}, "x").Err(),
			"ERR not found")
		require.Equal(e, "MBbloom--", e.c.Type(e.ctx, "f").Val())
		require.ElementsMatch(e, []string{"f", "still"},
			collect(e, e.c.ScanType(e.ctx, 0, "*", 100, "MBbloom--").Iterator()))
		copied(e)
	})
}

// copied copies a grown filter in each way there is. The copies must hold what the filter holds.
func copied(e *env) {
	items := make([]any, 5000)
	for i := range items {
		items[i] = i
	}
	require.NoError(e, e.c.BFMAdd(e.ctx, "f", items...).Err())
	in := e.c.BFInfo(e.ctx, "f").Val()
	require.Greater(e, in.Filters, int64(1))
	require.EqualValues(e, 1, e.c.Copy(e.ctx, "f", "copy", e.db, false).Val())
	require.NoError(e, e.c.RestoreReplace(e.ctx, "restored", 0, e.c.Dump(e.ctx, "f").Val()).Err())
	for iter := int64(0); ; {
		d, err := e.c.BFScanDump(e.ctx, "f", iter).Result()
		require.NoError(e, err)
		if iter = d.Iter; iter == 0 {
			break
		}
		require.NoError(e, e.c.BFLoadChunk(e.ctx, "loaded", iter, d.Data).Err())
	}
	for _, key := range []string{"copy", "restored", "loaded"} {
		require.Equal(e, in, e.c.BFInfo(e.ctx, key).Val(), key)
		require.Equal(e, e.c.Dump(e.ctx, "f").Val(), e.c.Dump(e.ctx, key).Val(), key)
		kept := e.c.BFMExists(e.ctx, key, items...).Val()
		require.Len(e, kept, len(items))
		require.NotContains(e, kept, false, key)
	}
	// The copies do not share memory.
	require.True(e, e.c.BFAdd(e.ctx, "copy", "only there, with a long name").Val())
	require.EqualValues(e, in.ItemsInserted, e.c.BFCard(e.ctx, "f").Val())
}

// TestCrawler runs the crawler of the courses. Many workers take addresses from each other's pages,
// and none may be fetched twice. The filter decides. It may leave out a few addresses, as its error
// rate says, and repeats none.
func TestCrawler(t *testing.T) {
	godwitOnly(t)
	everywhere(t, func(e *env) {
		const workers, pages = 8, 2000
		require.NoError(e, e.c.BFReserve(e.ctx, "seen", 0.001, pages).Err())
		fetched := make([][]string, workers)
		together(workers, func(w int) {
			for i := range pages {
				address := fmt.Sprintf("https://example.com/page/%d", (i*7+w*331)%pages)
				first, err := e.c.BFAdd(e.ctx, "seen", address).Result()
				if !assert.NoError(e, err) {
					return
				}
				if first {
					fetched[w] = append(fetched[w], address)
				}
			}
		})
		seen := map[string]bool{}
		for _, list := range fetched {
			for _, address := range list {
				require.False(e, seen[address], address)
				seen[address] = true
			}
		}
		require.GreaterOrEqual(e, len(seen), pages-pages/100)
	})
}

// TestNews runs the news feed of the courses. Readers get no article twice. Each reader has a
// filter that was made with the defaults, and it grows.
func TestNews(t *testing.T) {
	godwitOnly(t)
	everywhere(t, func(e *env) {
		const readers, articles = 4, 1500
		for r := range readers {
			key := fmt.Sprint("read:", r)
			for i := range articles {
				e.c.BFAdd(e.ctx, key, fmt.Sprint("article:", i*readers+r))
			}
			again, wrong := 0, 0
			ids := make([]any, articles)
			for i := range ids {
				ids[i] = fmt.Sprint("article:", i*readers+r)
			}
			for _, known := range e.c.BFMExists(e.ctx, key, ids...).Val() {
				if known {
					again++
				}
			}
			for i := range ids {
				ids[i] = fmt.Sprint("article:", i*readers+r+1)
			}
			for _, known := range e.c.BFMExists(e.ctx, key, ids...).Val() {
				if known {
					wrong++
				}
			}
			require.Equal(e, articles, again)
			require.Less(e, wrong, articles*3/100, "the rate is 1 %%")
			require.Greater(e, e.c.BFInfo(e.ctx, key).Val().Filters, int64(3))
		}
	})
}

// TestBloomLog checks that a log makes the same filters on a server with other defaults.
func TestBloomLog(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	s := startServer(t,
		with("--appendonly", "yes", "--bf-initial-size", "10", "--bf-error-rate", "0.05",
			"--bf-hash", "murmur64a")...)
	c := s.dial(t)
	filters(t, c)
	do(t, c, "BF.ADD", "def", "x")
	do(t, c, "BF.INSERT", "def2", "CAPACITY", "7", "EXPANSION", "3", "ITEMS", "x", "y")
	do(t, c, "BF.INSERT", "def2", "CAPACITY", "9", "ITEMS", "z")
	want := digest(t, c)
	s.stop(t)
	checkAOF(t, s.Dir)
	s2 := again(t, s, with("--appendonly", "yes", "--bf-expansion-factor", "7")...)
	c2 := s2.dial(t)
	require.Equal(t, want, digest(t, c2))
	require.Contains(t, do(t, c2, "BF.DEBUG", "def").Elems[1].Text(), "capacity:10 ")
}

// TestBloomTooLarge checks that a filter that fits in no memory is refused before anything is
// allocated.
func TestBloomTooLarge(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	s := startServer(t, "--maxmemory", "100mb")
	c := s.dial(t)
	for _, args := range []string{"BF.RESERVE f 0.0000001 1073741824",
		"BF.RESERVE f 0.01 1073741824 NONSCALING", "BF.INSERT f CAPACITY 1073741824 ITEMS x"} {
		v, err := c.Do(argsOf(args)...)
		require.NoError(t, err)
		require.Equal(t, "ERR Insufficient memory to create filter", v.Str, args)
	}
	require.EqualValues(t, 0, do(t, c, "EXISTS", "f").Int)
	// One more layer does not fit, so the filter stays as it is.
	do(t, c, "BF.RESERVE", "g", "0.01", "20000", "EXPANSION", "32768")
	full := 0
	for i := 0; full == 0; {
		args := []any{"BF.MADD", "g"}
		for range 100 {
			args = append(args, i, -i)
			i++
		}
		v, err := c.Do(args...)
		require.NoError(t, err)
		for _, e := range v.Elems {
			if e.IsError() {
				require.Equal(t, "ERR problem inserting into filter", e.Str)
				full++
			}
		}
		require.Less(t, do(t, c, "BF.CARD", "g").Int, int64(40_000))
	}
	// The header promises more than there is.
	head := do(t, c, "BF.SCANDUMP", "g", "0").Elems[1].Str
	big := []byte(head)
	copy(big[20:], "\x00\x00\x00\x00\x40\x00\x00\x00") // bytes of the first link: 2^38
	copy(big[28:], "\x00\x00\x00\x00\x00\x02\x00\x00") // bits
	v, err := c.Do("BF.LOADCHUNK", "h", "1", string(big))
	require.NoError(t, err)
	require.True(t, v.IsError())
	require.NotContains(t, s.Output(), "panic")
}
