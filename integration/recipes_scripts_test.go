package integration

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The scripts of this file are what applications and popular libraries run, in our own versions:
// locks, queues, limiters, moves between keys, documents.

var (
	unlockScript = redis.NewScript(`
		if redis.call('GET', KEYS[1]) == ARGV[1] then
			return redis.call('DEL', KEYS[1])
		end
		return 0`)
	renewScript = redis.NewScript(`
		if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
		return redis.call('pexpire', KEYS[1], ARGV[2])`)
)

func TestScriptLockByValue(t *testing.T) {
	everywhere(t, func(e *env) {
		require.True(e, e.c.SetNX(e.ctx, "lock", "mine", time.Minute).Val())
		assert.EqualValues(e, 0, unlockScript.Run(e.ctx, e.c, []string{"lock"}, "other").Val())
		assert.EqualValues(e, 0, renewScript.Run(e.ctx, e.c, []string{"lock"}, "other", 5).Val())
		assert.EqualValues(e, 1,
			renewScript.Run(e.ctx, e.c, []string{"lock"}, "mine", 100_000).Val())
		assert.Greater(e, e.c.PTTL(e.ctx, "lock").Val(), time.Minute)
		assert.EqualValues(e, 1, unlockScript.Run(e.ctx, e.c, []string{"lock"}, "mine").Val())
		assert.EqualValues(e, 0, unlockScript.Run(e.ctx, e.c, []string{"lock"}, "mine").Val())

		// Many clients at once read and write the counter that the lock guards, in two steps.
		together(4, func(w int) {
			for i := range 15 {
				token := fmt.Sprint(w, "-", i)
				for !e.c.SetNX(e.ctx, "lock", token, time.Minute).Val() {
					time.Sleep(time.Millisecond)
				}
				n, _ := e.c.Get(e.ctx, "guarded").Int()
				assert.NoError(e, e.c.Set(e.ctx, "guarded", n+1, 0).Err())
				assert.EqualValues(e, 1,
					unlockScript.Run(e.ctx, e.c, []string{"lock"}, token).Val())
			}
		})
		assert.Equal(e, "60", e.c.Get(e.ctx, "guarded").Val())

		// The owner dies and the lock expires. When the owner comes back, its release does not free
		// the lock of another.
		e.c.Set(e.ctx, "lock", "dead", 5*time.Millisecond)
		eventually(e, "the lock expires", func() bool {
			return e.c.SetNX(e.ctx, "lock", "new", time.Minute).Val()
		})
		assert.EqualValues(e, 0, unlockScript.Run(e.ctx, e.c, []string{"lock"}, "dead").Val())
		assert.Equal(e, "new", e.c.Get(e.ctx, "lock").Val())
	})
}

// The scripts keep a lock that its owner may take again, as a hash from the owner to a count.
// Taking it returns nil, or for how many ms it is still taken.
var (
	reenterScript = redis.NewScript(`
		if redis.call('exists', KEYS[1]) == 0 or redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
			redis.call('hincrby', KEYS[1], ARGV[2], 1)
			redis.call('pexpire', KEYS[1], ARGV[1])
			return nil
		end
		return redis.call('pttl', KEYS[1])`)
	leaveScript = redis.NewScript(`
		if redis.call('hexists', KEYS[1], ARGV[2]) == 0 then return nil end
		local left = redis.call('hincrby', KEYS[1], ARGV[2], -1)
		if left > 0 then
			redis.call('pexpire', KEYS[1], ARGV[1])
			return 0
		end
		redis.call('del', KEYS[1])
		return 1`)
)

func TestScriptReentrantLock(t *testing.T) {
	everywhere(t, func(e *env) {
		take := func(owner string) error {
			return reenterScript.Run(e.ctx, e.c, []string{"re"}, 30000, owner).Err()
		}
		leave := func(owner string) *redis.Cmd {
			return leaveScript.Run(e.ctx, e.c, []string{"re"}, 30000, owner)
		}
		for range 3 {
			assert.Equal(e, redis.Nil, take("a"))
		}
		ttl, err := reenterScript.Run(e.ctx, e.c, []string{"re"}, 30000, "b").Int64()
		assert.NoError(e, err)
		assert.InDelta(e, 30000, ttl, 10000)
		assert.Equal(e, redis.Nil, leave("b").Err())
		assert.EqualValues(e, 0, leave("a").Val())
		assert.EqualValues(e, 0, leave("a").Val())
		assert.EqualValues(e, 1, leave("a").Val())
		assert.Equal(e, redis.Nil, leave("a").Err())
		assert.Equal(e, redis.Nil, take("b"))
	})
}

// popDueScript moves what is due from a sorted set to a list, up to a number, and returns it.
var popDueScript = redis.NewScript(`
	local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
	if #due > 0 then
		redis.call('ZREM', KEYS[1], unpack(due))
		redis.call('LPUSH', KEYS[2], unpack(due))
	end
	return due`)

func TestScriptDelayedQueuePop(t *testing.T) {
	everywhere(t, func(e *env) {
		const jobs = 200
		for i := range jobs {
			require.NoError(e,
				e.c.ZAdd(e.ctx, "due", redis.Z{Score: float64(i % 10), Member: i}).Err())
		}
		require.NoError(e, e.c.ZAdd(e.ctx, "due", redis.Z{Score: 1e12, Member: "later"}).Err())
		var seen [jobs]atomic.Int32
		together(4, func(int) {
			for {
				got, err := popDueScript.Run(e.ctx, e.c, []string{"due", "running"}, 100,
					7).StringSlice()
				if !assert.NoError(e, err) || len(got) == 0 {
					return
				}
				assert.LessOrEqual(e, len(got), 7)
				for _, job := range got {
					n, err := strconv.Atoi(job)
					assert.NoError(e, err)
					seen[n].Add(1)
				}
			}
		})
		for i := range seen {
			assert.EqualValues(e, 1, seen[i].Load(), "job %d", i)
		}
		assert.EqualValues(e, jobs, e.c.LLen(e.ctx, "running").Val())
		assert.Equal(e, []string{"later"}, e.c.ZRange(e.ctx, "due", 0, -1).Val())
	})
}

// The limiters return {allowed, left, …}.
var (
	fixedWindow = redis.NewScript(`
		local n = redis.call('INCR', KEYS[1])
		if n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
		if n > tonumber(ARGV[1]) then return {0, 0, redis.call('PTTL', KEYS[1])} end
		return {1, ARGV[1] - n, -1}`)
	slidingWindow = redis.NewScript(`
		local now, window, limit = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
		redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, now - window)
		local n = redis.call('ZCARD', KEYS[1])
		if n >= limit then
			local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
			return {0, 0, first[2] + window - now}
		end
		redis.call('ZADD', KEYS[1], now, ARGV[4])
		redis.call('PEXPIRE', KEYS[1], window)
		return {1, limit - n - 1, 0}`)
	leakyBucket = redis.NewScript(`
		local capacity, rate, now = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
		local level, last = unpack(redis.call('HMGET', KEYS[1], 'level', 'last'))
		level, last = tonumber(level or 0), tonumber(last or now)
		level = math.max(0, level - (now - last) / 1000 * rate)
		local ok = 0
		if level + 1 <= capacity then level, ok = level + 1, 1 end
		redis.call('HSET', KEYS[1], 'level', tostring(level), 'last', ARGV[3])
		redis.call('PEXPIRE', KEYS[1], math.ceil(capacity / rate * 1000) + 1000)
		return {ok, tostring(level)}`)
	tokenBucket = redis.NewScript(`
		redis.replicate_commands()
		local rate, burst, asked = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
		local now = tonumber(ARGV[4])
		if not now then
			local t = redis.call('TIME')
			now = t[1] + t[2] / 1000000
		end
		local state = cjson.decode(redis.call('GET', KEYS[1]) or '{}')
		local tokens = math.min(burst, (state.tokens or ` +
		`burst) + math.max(0, now - (state.at or now)) * rate)
		local allowed = tokens >= asked
		if allowed then tokens = tokens - asked end
		redis.call('SET', KEYS[1], cjson.encode({tokens = tokens, at = ` +
		`now}), 'EX', math.ceil(burst / rate) + 1)
		return {allowed, tostring(tokens), string.format('%.3f', allowed and 0 or ` +
		`(asked - tokens) / rate)}`)
	cellRate = redis.NewScript(`
		local burst, per, period, cost, now = tonumber(ARGV[1]), tonumber(ARGV[2]), ` +
		`tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
		local interval = period / per
		local tat = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
		local new = tat + interval * cost
		local diff = now - (new - interval * burst)
		local left = diff / interval
		if left < 0 then return {0, 0, tostring(-diff), tostring(tat - now)} end
		local reset = new - now
		if reset > 0 then redis.call('SET', KEYS[1], new, 'EX', math.ceil(reset)) end
		return {cost, left, tostring(-1), tostring(reset)}`)
)

func TestScriptLimiters(t *testing.T) {
	everywhere(t, func(e *env) {
		run := func(s *redis.Script, key string, args ...any) []any {
			v, err := s.Run(e.ctx, e.c, []string{key}, args...).Slice()
			require.NoError(e, err)
			return v
		}
		for i := range int64(5) {
			assert.Equal(e, []any{int64(1), 4 - i, int64(-1)}, run(fixedWindow, "fixed", 5, 60000))
		}
		v := run(fixedWindow, "fixed", 5, 60000)
		assert.Equal(e, int64(0), v[0])
		assert.InDelta(e, 60000, v[2], 20000)

		for i := range int64(3) {
			assert.Equal(e, []any{int64(1), 2 - i, int64(0)},
				run(slidingWindow, "slide", 1000+100*i, 500, 3, i))
		}
		assert.Equal(e, []any{int64(0), int64(0), int64(200)},
			run(slidingWindow, "slide", 1300, 500, 3, "x"))
		assert.Equal(e, []any{int64(1), int64(0), int64(0)},
			run(slidingWindow, "slide", 1500, 500, 3, "y"))

		for i, want := range []string{"1", "2", "3"} {
			assert.Equal(e, []any{int64(1), want}, run(leakyBucket, "leaky", 3, 2, 1000), i)
		}
		assert.Equal(e, []any{int64(0), "3"}, run(leakyBucket, "leaky", 3, 2, 1000))
		assert.Equal(e, []any{int64(0), "2.8"}, run(leakyBucket, "leaky", 3, 2, 1100))
		assert.Equal(e, []any{int64(1), "2.8"}, run(leakyBucket, "leaky", 3, 2, 1600))
		assert.Equal(e, map[string]string{"level": "2.8", "last": "1600"},
			e.c.HGetAll(e.ctx, "leaky").Val())

		yes, no := any(int64(1)), any(nil)
		assert.Equal(e, []any{yes, "7", "0.000"}, run(tokenBucket, "token", 4, 10, 3, 100))
		assert.Equal(e, []any{yes, "0", "0.000"}, run(tokenBucket, "token", 4, 10, 7, 100))
		assert.Equal(e, []any{no, "1", "0.250"}, run(tokenBucket, "token", 4, 10, 2, 100.25))
		assert.Equal(e, []any{yes, "2", "0.000"}, run(tokenBucket, "token", 4, 10, 2, 101))
		assert.Equal(e, []any{yes, "9", "0.000"}, run(tokenBucket, "token2", 4, 10, 1, ""))

		assert.Equal(e, []any{int64(1), int64(9), "-1", "1"},
			run(cellRate, "cell", 10, 10, 10, 1, 50))
		assert.Equal(e, []any{int64(9), int64(0), "-1", "10"},
			run(cellRate, "cell", 10, 10, 10, 9, 50))
		assert.Equal(e, []any{int64(0), int64(0), "1", "10"},
			run(cellRate, "cell", 10, 10, 10, 1, 50))
	})
}

// TestScriptLimiterConcurrent checks that of many calls at once exactly the limit pass.
func TestScriptLimiterConcurrent(t *testing.T) {
	everywhere(t, func(e *env) {
		var passed atomic.Int32
		together(6, func(w int) {
			for i := range 25 {
				for _, s := range []*redis.Script{fixedWindow, slidingWindow} {
					args := []any{40, 60000}
					if s == slidingWindow {
						args = []any{5000, 100_000, 40, fmt.Sprint(w, " ", i)}
					}
					v, err := s.Run(e.ctx, e.c, []string{s.Hash()}, args...).Int64Slice()
					if assert.NoError(e, err) {
						passed.Add(int32(v[0]))
					}
				}
			}
		})
		assert.EqualValues(e, 80, passed.Load())
	})
}

// transferScript moves an amount between two accounts, a hash each, and writes a line of the
// ledger.
var transferScript = redis.NewScript(`
	local amount = tonumber(ARGV[1])
	if not amount or amount <= 0 then return redis.error_reply('BADAMOUNT ' .. ` +
	`tostring(ARGV[1])) end
	local have = tonumber(redis.call('HGET', KEYS[1], 'balance') or 0)
	if have < amount then return redis.error_reply('POOR has ' .. have .. ' of ' .. amount) end
	local a = redis.call('HINCRBY', KEYS[1], 'balance', -amount)
	local b = redis.call('HINCRBY', KEYS[2], 'balance', amount)
	redis.call('RPUSH', KEYS[3], string.format('%s>%s:%d', KEYS[1], KEYS[2], amount))
	return {a, b}`)

func TestScriptTransfer(t *testing.T) {
	everywhere(t, func(e *env) {
		const accounts, each = 4, 100
		for i := range accounts {
			require.NoError(e, e.c.HSet(e.ctx, fmt.Sprint("acc", i), "balance", each).Err())
		}
		var done atomic.Int32
		together(accounts, func(w int) {
			for i := range 30 {
				to := (w + 1 + i%(accounts-1)) % accounts
				err := transferScript.Run(e.ctx, e.c,
					[]string{fmt.Sprint("acc", w), fmt.Sprint("acc", to), "ledger"}, 1+i*7%40).Err()
				if err == nil {
					done.Add(1)
				} else {
					assert.ErrorContains(e, err, "POOR has ")
				}
			}
		})
		total := 0
		for i := range accounts {
			n, err := e.c.HGet(e.ctx, fmt.Sprint("acc", i), "balance").Int()
			assert.NoError(e, err)
			assert.GreaterOrEqual(e, n, 0)
			total += n
		}
		assert.Equal(e, accounts*each, total)
		assert.EqualValues(e, done.Load(), e.c.LLen(e.ctx, "ledger").Val())
		assert.EqualError(e,
			transferScript.Run(e.ctx, e.c, []string{"acc0", "acc1", "ledger"}, "x").Err(),
			"BADAMOUNT x")
		assert.ErrorContains(e,
			transferScript.Run(e.ctx, e.c, []string{"ledger", "acc1", "ledger"}, 1).Err(),
			"WRONGTYPE")
	})
}

// The scripts change documents in place. A document is JSON in a string.
var (
	patchScript = redis.NewScript(`
		local raw = redis.call('GET', KEYS[1])
		local doc = raw and cjson.decode(raw) or {version = 0}
		if doc.version ~= tonumber(ARGV[1]) then ` +
		`return {err = 'CONFLICT version is ' .. doc.version} end
		for field, value in pairs(cjson.decode(ARGV[2])) do
			if value == cjson.null then doc[field] = nil else doc[field] = value end
		end
		doc.version = doc.version + 1
		redis.call('SET', KEYS[1], cjson.encode(doc))
		return doc.version`)
	filterScript = redis.NewScript(`
		local out = {}
		for _, raw in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
			local ok, doc = pcall(cjson.decode, raw)
			if not ok then
				out[#out + 1] = 'bad: ' .. doc
			elseif doc.age >= tonumber(ARGV[1]) then
				out[#out + 1] = cjson.encode({doc.name, doc.age, #doc.tags})
			end
		end
		return out`)
)

func TestScriptJSON(t *testing.T) {
	everywhere(t, func(e *env) {
		patch := func(version int, p string) *redis.Cmd {
			return patchScript.Run(e.ctx, e.c, []string{"doc"}, version, p)
		}
		assert.EqualValues(e, 1,
			patch(0, `{"name":"Ann","tags":["a","b"],"price":12.50,"gone":true}`).Val())
		assert.EqualValues(e, 2,
			patch(1, `{"gone":null,"nested":{"list":[1,2.5,[3]],"s":"\u00e9/\"x\""}}`).Val())
		assert.EqualError(e, patch(1, `{}`).Err(), "CONFLICT version is 2")
		assert.ErrorContains(e, patch(2, `{"a":`).Err(),
			"Expected value but found T_END at character 6")
		var doc map[string]any
		require.NoError(e, json.Unmarshal([]byte(e.c.Get(e.ctx, "doc").Val()), &doc))
		assert.Equal(e,
			map[string]any{"name": "Ann", "tags": []any{"a", "b"}, "price": 12.5, "version": 2.0,
				"nested": map[string]any{"list": []any{1.0, 2.5, []any{3.0}}, "s": "é/\"x\""}}, doc)

		e.c.RPush(e.ctx, "people", `{"name":"Ann","age":31,"tags":[1,2]}`,
			`{"name":"Bob","age":12,"tags":[]}`, `oops`, `{"name":"Cy","age":1e2,"tags":{}}`)
		got, err := filterScript.Run(e.ctx, e.c, []string{"people"}, 18).StringSlice()
		require.NoError(e, err)
		assert.Equal(e,
			[]string{`["Ann",31,2]`, `bad: Expected value but found invalid token at character 1`,
				`["Cy",100,0]`}, got)

		// Optimistic writers: each version is written once.
		together(4, func(int) {
			for range 10 {
				for {
					raw := e.c.Get(e.ctx, "doc").Val()
					var d struct{ Version int }
					if !assert.NoError(e, json.Unmarshal([]byte(raw), &d)) ||
						patch(d.Version, `{"by":1}`).Err() == nil {
						break
					}
				}
			}
		})
		require.NoError(e, json.Unmarshal([]byte(e.c.Get(e.ctx, "doc").Val()), &doc))
		assert.Equal(e, 42.0, doc["version"])
	})
}

// The scripts are a job queue. Jobs are MessagePack in a hash, and their ids are in lists.
var (
	enqueueScript = redis.NewScript(`
		local job = cmsgpack.unpack(ARGV[1])
		local id = redis.call('INCR', KEYS[1])
		redis.call('HSET', KEYS[2], id, cmsgpack.pack({id = id, name = job[1], data = ` +
		`job[2], tries = 0}))
		redis.call('LPUSH', KEYS[3], id)
		return id`)
	startScript = redis.NewScript(`
		local id = redis.call('RPOPLPUSH', KEYS[1], KEYS[2])
		if not id then return false end
		local job = cmsgpack.unpack(redis.call('HGET', KEYS[3], id))
		job.tries = job.tries + 1
		redis.call('HSET', KEYS[3], id, cmsgpack.pack(job))
		return {job.id, job.name, cjson.encode(job.data), job.tries}`)
	finishScript = redis.NewScript(`
		local n = redis.call('LREM', KEYS[1], 0, ARGV[1])
		if n == 0 then return redis.status_reply('LOST') end
		if ARGV[2] == 'ok' then redis.call('HDEL', KEYS[3], ARGV[1]) else ` +
		`redis.call('LPUSH', KEYS[2], ARGV[1]) end
		return redis.status_reply('DONE')`)
)

func TestScriptJobQueue(t *testing.T) {
	everywhere(t, func(e *env) {
		const jobs = 40
		for i := range jobs {
			// ["send", [i, "x"]]
			payload := "\x92\xa4send\x92" + string([]byte{byte(i)}) + "\xa1x"
			id, err := enqueueScript.Run(e.ctx, e.c, []string{"seq", "jobs", "wait"}, payload).Int()
			require.NoError(e, err)
			require.Equal(e, i+1, id)
		}
		var runs [jobs + 1]atomic.Int32
		together(4, func(int) {
			for {
				v, err := startScript.Run(e.ctx, e.c, []string{"wait", "active", "jobs"}).Slice()
				if err == redis.Nil {
					return
				}
				if !assert.NoError(e, err) {
					return
				}
				id, tries := v[0].(int64), v[3].(int64)
				assert.Equal(e, "send", v[1])
				assert.Equal(e, fmt.Sprintf(`[%d,"x"]`, id-1), v[2])
				runs[id].Add(1)
				result := "ok"
				if id%5 == 0 && tries < 3 {
					result = "failed"
				}
				assert.Equal(e, "DONE",
					finishScript.Run(e.ctx, e.c, []string{"active", "wait", "jobs"}, id,
						result).Val())
			}
		})
		for id := 1; id <= jobs; id++ {
			want := int32(1)
			if id%5 == 0 {
				want = 3
			}
			assert.Equal(e, want, runs[id].Load(), "job %d", id)
		}
		assert.Equal(e, "LOST",
			finishScript.Run(e.ctx, e.c, []string{"active", "wait", "jobs"}, 1, "ok").Val())
		assert.EqualValues(e, 1, e.c.Exists(e.ctx, "seq", "jobs", "wait", "active").Val())
	})
}

// TestScriptSemaphore keeps the holders in a sorted set with the time at which each took its place.
// A holder that does not renew its place loses it.
func TestScriptSemaphore(t *testing.T) {
	acquire := redis.NewScript(`
		redis.call('zremrangebyscore', KEYS[1], '-inf', ARGV[3] - ARGV[4])
		if redis.call('zscore', KEYS[1], ARGV[2]) or ` +
		`redis.call('zcard', KEYS[1]) < tonumber(ARGV[1]) then
			redis.call('zadd', KEYS[1], ARGV[3], ARGV[2])
			return true
		end
		return false`)
	everywhere(t, func(e *env) {
		take := func(who string, now int) bool {
			v, err := acquire.Run(e.ctx, e.c, []string{"sem"}, 2, who, now, 100).Result()
			if err != redis.Nil {
				require.NoError(e, err)
			}
			return v == int64(1)
		}
		assert.True(e, take("a", 1000))
		assert.True(e, take("b", 1050))
		assert.False(e, take("c", 1060))
		assert.True(e, take("a", 1090))
		assert.False(e, take("c", 1149))
		assert.True(e, take("c", 1150))
		assert.Equal(e, []string{"a", "c"}, e.c.ZRange(e.ctx, "sem", 0, -1).Val())
	})
}

// TestScriptUnlinkByPattern walks the keys and unlinks those that match, as cache libraries clear
// their own.
func TestScriptUnlinkByPattern(t *testing.T) {
	clearScript := redis.NewScript(`
		local cursor, n = '0', 0
		repeat
			local page = redis.call('SCAN', cursor, 'MATCH', ARGV[1], 'COUNT', 50)
			cursor = page[1]
			for i = 1, #page[2], 20 do
				n = n + redis.call('UNLINK', unpack(page[2], i, math.min(i + 19, #page[2])))
			end
		until cursor == '0'
		return n`)
	everywhere(t, func(e *env) {
		for i := range 300 {
			e.c.Set(e.ctx, fmt.Sprint("cache:", i), i, 0)
		}
		e.c.Set(e.ctx, "keep", 1, 0)
		assert.EqualValues(e, 300, clearScript.Run(e.ctx, e.c, nil, "cache:*").Val())
		assert.EqualValues(e, 1, e.c.DBSize(e.ctx).Val())
	})
}

// TestScriptErrors checks that what a script has done before an error stays, and that a script goes
// on after pcall.
func TestScriptErrors(t *testing.T) {
	everywhere(t, func(e *env) {
		e.c.Set(e.ctx, "s", "text", 0)
		err := e.c.Eval(e.ctx,
			`redis.call('SET', KEYS[1], '1') redis.call('LPUSH', KEYS[2], 'x') redis.call('SET', `+
				`KEYS[1], '2')`, []string{"a", "s"}).Err()
		assert.ErrorContains(e, err, "WRONGTYPE")
		assert.Equal(e, "1", e.c.Get(e.ctx, "a").Val())
		got, err := e.c.Eval(e.ctx, `
			local r = redis.pcall('INCR', KEYS[1])
			if type(r) == 'table' and r.err then `+
			`return 'caught ' .. string.match(r.err, 'value is not an integer') end
			return r`, []string{"s"}).Result()
		assert.NoError(e, err)
		assert.Equal(e, "caught value is not an integer", got)
		_, err = e.c.Eval(e.ctx, `return redis.call('NOSUCH')`, nil).Result()
		assert.ErrorContains(e, err, "Unknown Redis command called from script")
		_, err = e.c.EvalSha(e.ctx, "ffffffffffffffffffffffffffffffffffffffff", nil).Result()
		assert.ErrorContains(e, err, "NOSCRIPT")
	})
}
