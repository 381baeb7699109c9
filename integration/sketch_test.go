package integration

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
)

// sketches makes cuckoo filters, count-min sketches, top-k lists and t-digests, small, grown and
// large, if the server has them.
func sketches(t testing.TB, c *client.Client) {
	t.Helper()
	if !built.godwit {
		return
	}
	do(t, c, "CF.RESERVE", "cf:large", "2000000")
	do(t, c, "CF.RESERVE", "cf:grown", "64", "EXPANSION", "2")
	do(t, c, "CMS.INITBYDIM", "cms:small", "20", "3")
	do(t, c, "CMS.INITBYPROB", "cms:large", "0.00001", "0.01")
	do(t, c, "TOPK.RESERVE", "topk:small", "5")
	do(t, c, "TOPK.RESERVE", "topk:large", "200", "50000", "5", "0.95")
	do(t, c, "TDIGEST.CREATE", "td:small")
	do(t, c, "TDIGEST.CREATE", "td:large", "COMPRESSION", "1000")
	for i := range 3000 {
		item := fmt.Sprint("item:", i*i%701)
		c.Queue("CF.ADD", "cf:default", item)
		c.Queue("CF.INSERT", "cf:large", "ITEMS", item, "other:"+item)
		if i < 700 {
			c.Queue("CF.ADDNX", "cf:grown", item)
		}
		c.Queue("CMS.INCRBY", "cms:small", item, i%7)
		c.Queue("CMS.INCRBY", "cms:large", item, 1, "other:"+item, i)
		c.Queue("TOPK.ADD", "topk:small", item)
		c.Queue("TOPK.INCRBY", "topk:large", item, i%50)
		c.Queue("TDIGEST.ADD", "td:small", i*37%1000)
		c.Queue("TDIGEST.ADD", "td:large", -i, float64(i)/7)
	}
	vs, err := c.Pipeline()
	require.NoError(t, err)
	for _, v := range vs {
		require.False(t, v.IsError(), v)
	}
	do(t, c, "TDIGEST.MERGE", "td:merged", "2", "td:small", "td:large")
	do(t, c, "CMS.MERGE", "cms:small", "1", "cms:small", "WEIGHTS", "3")
	do(t, c, "CF.DEL", "cf:grown", "item:1")
	do(t, c, "PEXPIRE", "topk:large", "100000000")
}

// TestCuckoo and the next three tests call the methods of a client library.
func TestCuckoo(t *testing.T) {
	godwitOnly(t)
	everywhere(t, func(e *env) {
		require.NoError(e, e.c.CFReserveBucketSize(e.ctx, "f", 1000, 4).Err())
		require.EqualError(e, e.c.CFReserve(e.ctx, "f", 1000).Err(), "ERR item exists")
		require.True(e, e.c.CFAdd(e.ctx, "f", "a").Val())
		require.True(e, e.c.CFAdd(e.ctx, "f", "a").Val())
		require.False(e, e.c.CFAddNX(e.ctx, "f", "a").Val())
		require.EqualValues(e, 2, e.c.CFCount(e.ctx, "f", "a").Val())
		require.Equal(e, []bool{true, true}, e.c.CFInsert(e.ctx, "f", nil, "b", "c").Val())
		require.Equal(e, []int64{0, 1}, e.c.CFInsertNX(e.ctx, "f", nil, "b", "d").Val())
		require.Equal(e, []bool{true, false}, e.c.CFMExists(e.ctx, "f", "d", "e").Val())
		require.True(e, e.c.CFExists(e.ctx, "f", "b").Val())
		require.True(e, e.c.CFDel(e.ctx, "f", "b").Val())
		require.False(e, e.c.CFExists(e.ctx, "f", "b").Val())
		require.EqualError(e, e.c.CFDel(e.ctx, "none", "b").Err(), "Not found")
		in, err := e.c.CFInfo(e.ctx, "f").Result()
		require.NoError(e, err)
		require.Equal(e, redis.CFInfo{
			Size: 40 + 16 + 1024, NumBuckets: 256, NumFilters: 1, NumItemsInserted: 4,
			NumItemsDeleted: 1, BucketSize: 4, ExpansionRate: 1, MaxIteration: 20,
		}, in)
		for i := range 3000 {
			require.True(e, e.c.CFAdd(e.ctx, "f", i).Val())
		}
		for iter := int64(0); ; {
			d, err := e.c.CFScanDump(e.ctx, "f", iter).Result()
			if errors.Is(err, redis.Nil) { // the end is 0 and nothing, as with RedisBloom
				break
			}
			require.NoError(e, err)
			iter = d.Iter
			require.NoError(e, e.c.CFLoadChunk(e.ctx, "loaded", iter, d.Data).Err())
		}
		handedOver(e, "f", "loaded")
		for i := range 3000 {
			require.True(e, e.c.CFExists(e.ctx, "loaded", i).Val())
		}
	})
}

// handedOver copies a sketch in the ways that all keys have. All copies, and those that the test
// made, must be the same.
func handedOver(e *env, key string, more ...string) {
	want := e.c.Dump(e.ctx, key).Val()
	require.EqualValues(e, 1, e.c.Copy(e.ctx, key, "copy", e.db, true).Val())
	require.NoError(e, e.c.RestoreReplace(e.ctx, "restored", 0, want).Err())
	for _, k := range append(more, "copy", "restored") {
		require.Equal(e, want, e.c.Dump(e.ctx, k).Val(), k)
		require.Equal(e, e.c.Type(e.ctx, key).Val(), e.c.Type(e.ctx, k).Val())
	}
	require.EqualValues(e, 2, e.c.Unlink(e.ctx, "copy", "restored").Val())
}

func TestCountMin(t *testing.T) {
	godwitOnly(t)
	everywhere(t, func(e *env) {
		require.NoError(e, e.c.CMSInitByProb(e.ctx, "s", 0.001, 0.002).Err())
		require.EqualError(e, e.c.CMSInitByDim(e.ctx, "s", 10, 10).Err(), "CMS: key already exists")
		require.Equal(e, []int64{5, 2}, e.c.CMSIncrBy(e.ctx, "s", "foo", 5, "bar", 2).Val())
		require.Equal(e, []int64{5, 2, 0}, e.c.CMSQuery(e.ctx, "s", "foo", "bar", "none").Val())
		require.Equal(e, redis.CMSInfo{Width: 2000, Depth: 9, Count: 7},
			e.c.CMSInfo(e.ctx, "s").Val())
		require.NoError(e, e.c.CMSInitByDim(e.ctx, "sum", 2000, 9).Err())
		require.NoError(e, e.c.CMSMerge(e.ctx, "sum", "s", "s").Err())
		require.NoError(e,
			e.c.CMSMergeWithWeight(e.ctx, "sum", map[string]int64{"s": 3, "sum": 1}).Err())
		require.Equal(e, []int64{25, 10}, e.c.CMSQuery(e.ctx, "sum", "foo", "bar").Val())
		require.EqualError(e, e.c.CMSQuery(e.ctx, "none", "foo").Err(), "CMS: key does not exist")
		handedOver(e, "sum")
	})
}

func TestTopK(t *testing.T) {
	godwitOnly(t)
	everywhere(t, func(e *env) {
		require.NoError(e, e.c.TopKReserveWithOptions(e.ctx, "top", 40, 2000, 7, 0.925).Err())
		rng := rand.New(rand.NewPCG(7, 7))
		zipf := rand.NewZipf(rng, 1.3, 1, 50_000)
		seen := map[string]int64{}
		for range 300 {
			items := make([]any, 100)
			for i := range items {
				it := fmt.Sprint("page:", zipf.Uint64())
				items[i] = it
				seen[it]++
			}
			require.NoError(e, e.c.TopKAdd(e.ctx, "top", items...).Err())
		}
		names := make([]string, 0, len(seen))
		for it := range seen {
			names = append(names, it)
		}
		slices.SortFunc(names, func(a, b string) int { return int(seen[b] - seen[a]) })
		list := e.c.TopKList(e.ctx, "top").Val()
		require.Len(e, list, 40)
		require.Equal(e, names[:3], list[:3])
		for i, is := range e.c.TopKQuery(e.ctx, "top", anys(names[:20])...).Val() {
			require.True(e, is, names[i])
		}
		for it, n := range e.c.TopKListWithCount(e.ctx, "top").Val() {
			require.LessOrEqual(e, n, seen[it])
		}
		require.LessOrEqual(e, e.c.TopKCount(e.ctx, "top", names[0]).Val()[0], seen[names[0]])
		in := e.c.TopKInfo(e.ctx, "top").Val()
		require.Equal(e, redis.TopKInfo{K: 40, Width: 2000, Depth: 7, Decay: 0.925}, in)
		_, err := e.c.TopKIncrBy(e.ctx, "top", "rising", 100000).Result()
		require.NoError(e, err)
		require.Equal(e, "rising", e.c.TopKList(e.ctx, "top").Val()[0])
		handedOver(e, "top")
	})
}

func TestTDigest(t *testing.T) {
	godwitOnly(t)
	everywhere(t, func(e *env) {
		require.NoError(e, e.c.TDigestCreateWithCompression(e.ctx, "d", 200).Err())
		require.EqualError(e, e.c.TDigestCreate(e.ctx, "d").Err(),
			"ERR T-Digest: key already exists")
		for i := range 100 {
			values := make([]float64, 100)
			for j := range values {
				values[j] = float64((i*100+j)*7919%10000) + 1
			}
			require.NoError(e, e.c.TDigestAdd(e.ctx, "d", values...).Err())
		}
		require.Equal(e, []float64{1, 10000},
			[]float64{e.c.TDigestMin(e.ctx, "d").Val(), e.c.TDigestMax(e.ctx, "d").Val()})
		for i, q := range e.c.TDigestQuantile(e.ctx, "d", 0.01, 0.5, 0.99).Val() {
			require.InDelta(e, []float64{100, 5000, 9900}[i], q, []float64{10, 100, 10}[i])
		}
		require.InDelta(e, 0.25, e.c.TDigestCDF(e.ctx, "d", 2500).Val()[0], 0.01)
		require.InDelta(e, 2500, e.c.TDigestRank(e.ctx, "d", 2500).Val()[0], 100)
		require.InDelta(e, 7500, e.c.TDigestRevRank(e.ctx, "d", 2500).Val()[0], 100)
		require.InDelta(e, 2500, e.c.TDigestByRank(e.ctx, "d", 2500).Val()[0], 100)
		require.InDelta(e, 7500, e.c.TDigestByRevRank(e.ctx, "d", 2500).Val()[0], 100)
		require.InDelta(e, 5000, e.c.TDigestTrimmedMean(e.ctx, "d", 0.1, 0.9).Val(), 50)
		in := e.c.TDigestInfo(e.ctx, "d").Val()
		require.EqualValues(e, []int64{200, 1210, 10000},
			[]int64{in.Compression, in.Capacity, in.Observations})
		require.NoError(e, e.c.TDigestMerge(e.ctx, "sum",
			&redis.TDigestMergeOptions{Compression: 1000}, "d", "d").Err())
		in = e.c.TDigestInfo(e.ctx, "sum").Val()
		require.EqualValues(e, []int64{1000, 6010, 20000},
			[]int64{in.Compression, in.Capacity, in.Observations})
		handedOver(e, "d")
		handedOver(e, "sum")
		require.NoError(e, e.c.TDigestReset(e.ctx, "d").Err())
		require.Zero(e, e.c.TDigestInfo(e.ctx, "d").Val().Observations)
	})
}

// TestSketchLog checks that a log makes the same sketches on a server with other defaults, with the
// same random choices.
func TestSketchLog(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	for _, preamble := range []string{"yes", "no"} {
		s := startServer(t, with("--appendonly", "yes", "--aof-use-rdb-preamble", preamble,
			"--cf-initial-size", "500", "--cf-bucket-size", "4")...)
		c := s.dial(t)
		sketches(t, c)
		do(t, c, "BGREWRITEAOF")
		// The log goes on after a base that holds the state. What it replays there must meet the
		// same state, to the last random bit.
		for i := range 500 {
			item := fmt.Sprint("later:", i%90)
			do(t, c, "TOPK.INCRBY", "topk:small", item, i%20)
			do(t, c, "TOPK.ADD", "topk:large", item, item)
			do(t, c, "TDIGEST.ADD", "td:small", i%13)
			do(t, c, "CF.ADD", "cf:late", item)
		}
		want := digest(t, c)
		s.stop(t)
		checkAOF(t, s.Dir)
		s2 := again(t, s, with("--appendonly", "yes", "--cf-max-expansions", "1",
			"--cf-expansion-factor", "4")...)
		require.Equal(t, want, digest(t, s2.dial(t)))
	}
}

// TestSketchTooLarge checks that a sketch that fits in no memory is refused before anything is
// allocated.
func TestSketchTooLarge(t *testing.T) {
	godwitOnly(t)
	t.Parallel()
	s := startServer(t, "--maxmemory", "100mb")
	c := s.dial(t)
	for _, x := range [][2]string{
		{"CF.RESERVE x 1073741824", "ERR Insufficient memory to create filter"},
		{"CF.INSERT x CAPACITY 1073741824 ITEMS a", "ERR Insufficient memory to create filter"},
		{"CMS.INITBYDIM x 100000000 7", "CMS: Insufficient memory to create the key"},
		{"CMS.INITBYPROB x 0.00000001 0.01", "CMS: Insufficient memory to create the key"},
		{"TOPK.RESERVE x 100000000", "ERR Insufficient memory to create topk data structure"},
		{"TOPK.RESERVE x 1 100000000 7 0.9",
			"ERR Insufficient memory to create topk data structure"},
		{"TDIGEST.CREATE x COMPRESSION 100000000", "ERR T-Digest: allocation failed"},
	} {
		v, err := c.Do(anys(strings.Fields(x[0]))...)
		require.NoError(t, err)
		require.Equal(t, x[1], v.Str, x[0])
	}
	require.EqualValues(t, 0, do(t, c, "EXISTS", "x").Int)
	// The next part of the filter has no room, so it stays as it is.
	do(t, c, "CF.RESERVE", "cf", "65536", "EXPANSION", "32768")
	for i := 0; ; i++ {
		args := []any{"CF.INSERT", "cf", "ITEMS"}
		for j := range 1000 {
			args = append(args, i*1000+j)
		}
		r := do(t, c, args...).Elems
		if slices.ContainsFunc(r, func(v client.Value) bool { return v.Int == -1 }) {
			break
		}
		require.Less(t, i, 100)
	}
	for i := 0; ; i++ {
		v, err := c.Do("CF.ADD", "cf", fmt.Sprint("more:", i))
		require.NoError(t, err)
		if v.IsError() {
			require.Equal(t, "Insufficient memory", v.Str)
			break
		}
		require.Less(t, i, 10000)
	}
	require.EqualValues(t, 1, do(t, c, "CF.INFO", "cf").Elems[5].Int)
}
