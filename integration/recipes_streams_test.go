package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// workQueue is a stream "tasks" with a group "workers", where tasks wait until they are done, and a
// stream "dead" of those that cannot be done.
type workQueue struct {
	c   *redis.Client
	ctx context.Context

	done     [queueTasks]atomic.Int32 // how often each task was done
	attempts [queueTasks]atomic.Int32
	added    atomic.Int32 // tasks whose XADD was answered
}

const (
	queueTasks = 400
	maxRetries = 5                     // deliveries of a task before it is dead
	abandoned  = 50 * time.Millisecond // a task that nobody acknowledges so long is somebody else's
)

// hopeless reports whether a task can never be done, flaky whether it fails at first.
func hopeless(n int) bool { return n%37 == 5 }
func flaky(n int) bool    { return n%5 == 0 }

// produce adds all tasks. A task whose XADD was not answered is added again.
func (q *workQueue) produce() {
	for n := 0; n < queueTasks && q.ctx.Err() == nil; {
		err := q.c.XAdd(q.ctx, &redis.XAddArgs{Stream: "tasks", Values: []any{"n", n}}).Err()
		if err != nil {
			time.Sleep(time.Millisecond) // the server is away
			continue
		}
		n++
		q.added.Add(1)
	}
}

// work takes what others have given up, then new tasks, until ctx ends.
func (q *workQueue) work(name string) {
	for q.ctx.Err() == nil {
		for _, m := range q.takeOver(name) {
			q.do(m)
		}
		got, err := q.c.XReadGroup(q.ctx, &redis.XReadGroupArgs{Group: "workers", Consumer: name,
			Streams: []string{"tasks", ">"}, Count: 5, Block: 20 * time.Millisecond}).Result()
		if err != nil || len(got) == 0 {
			time.Sleep(time.Millisecond)
			continue
		}
		for _, m := range got[0].Messages {
			q.do(m)
		}
	}
}

// takeOver claims tasks that nobody has acknowledged in time. Those that were tried too often are
// buried.
func (q *workQueue) takeOver(name string) []redis.XMessage {
	idle, err := q.c.XPendingExt(q.ctx, &redis.XPendingExtArgs{Stream: "tasks", Group: "workers",
		Idle: abandoned, Start: "-", End: "+", Count: 10}).Result()
	if err != nil || len(idle) == 0 {
		return nil
	}
	tries := map[string]int64{}
	var ids []string
	for _, p := range idle {
		tries[p.ID] = p.RetryCount
		ids = append(ids, p.ID)
	}
	// Of several workers that ask at once, one gets a task: for the others it is not idle any more.
	mine, err := q.c.XClaim(q.ctx, &redis.XClaimArgs{Stream: "tasks", Group: "workers",
		Consumer: name, MinIdle: abandoned, Messages: ids}).Result()
	if err != nil {
		return nil
	}
	var again []redis.XMessage
	for _, m := range mine {
		if tries[m.ID] < maxRetries {
			again = append(again, m)
			continue
		}
		_, _ = q.c.TxPipelined(q.ctx, func(p redis.Pipeliner) error { // if it fails, again later
			p.XAdd(q.ctx, &redis.XAddArgs{Stream: "dead", Values: m.Values})
			p.XAck(q.ctx, "tasks", "workers", m.ID)
			return nil
		})
	}
	return again
}

// do does a task, or fails to.
func (q *workQueue) do(m redis.XMessage) {
	n, err := strconv.Atoi(m.Values["n"].(string))
	if err != nil || hopeless(n) || q.attempts[n].Add(1) == 1 && flaky(n) {
		return
	}
	q.done[n].Add(1)
	q.c.XAck(q.ctx, "tasks", "workers", m.ID) // if it fails, the task is done once more
}

// idle reports whether all tasks are added, delivered and acknowledged.
func (q *workQueue) idle() bool {
	groups, err := q.c.XInfoGroups(q.ctx, "tasks").Result()
	return err == nil && len(groups) == 1 && q.added.Load() == queueTasks && groups[0].Lag == 0 &&
		groups[0].Pending == 0
}

// TestWorkQueueSurvivesKills has workers take tasks at least once, whoever dies. A consumer takes
// some and is never seen again, tasks fail once or always, and the server is killed twice in the
// middle of everything. No task whose XADD was answered is lost, and what cannot be done ends among
// the dead letters.
func TestWorkQueueSurvivesKills(t *testing.T) {
	t.Parallel()
	dir := testserver.Dir(t)
	args := []string{"--appendonly", "yes", "--appendfsync", "always",
		"--unixsocket", filepath.Join(dir, "s")}
	s, err := launchReady(dir, args...)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	q := &workQueue{ctx: ctx, c: redis.NewClient(&redis.Options{Network: "unix",
		Addr: filepath.Join(dir, "s"), MaxRetries: -1, PoolSize: 8})}
	defer q.c.Close()
	require.NoError(t, q.c.XGroupCreateMkStream(ctx, "tasks", "workers", "0").Err())
	var wg sync.WaitGroup
	wg.Go(q.produce)
	eventually(t, "the first tasks", func() bool { return q.added.Load() >= 10 })
	lost, err := q.c.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "workers", Consumer: "gone",
		Streams: []string{"tasks", ">"}, Count: 10, Block: -1}).Result()
	require.NoError(t, err)
	require.Len(t, lost[0].Messages, 10)
	for i := range 4 {
		wg.Go(func() { q.work(fmt.Sprint("worker", i)) })
	}
	for _, added := range []int32{queueTasks / 4, queueTasks / 2} {
		eventually(t, "tasks to be lost", func() bool { return q.added.Load() >= added })
		s.Kill()
		s = again(t, s, args...)
	}
	eventually(t, "all tasks are done or dead", q.idle)
	cancel()
	wg.Wait()

	q.ctx = t.Context()
	dead := map[string]bool{}
	for _, m := range q.c.XRange(q.ctx, "dead", "-", "+").Val() {
		dead[m.Values["n"].(string)] = true
	}
	for n := range queueTasks {
		if hopeless(n) {
			assert.True(t, dead[strconv.Itoa(n)], "task %d is not among the dead", n)
			assert.Zero(t, q.done[n].Load())
			continue
		}
		assert.Positive(t, q.done[n].Load(), "task %d was lost", n)
	}
	require.Zero(t, q.c.XPending(q.ctx, "tasks", "workers").Val().Count)
}

// sharedLog is a stream "log" that the groups "audit" and "billing" read.
type sharedLog struct {
	*env
	c       *redis.Client
	audited []string
	billed  sync.Map     // by ID, the biller
	left    atomic.Int32 // not billed yet
}

// take reads entries for a consumer and acknowledges them.
func (l *sharedLog) take(group, consumer string) []redis.XMessage {
	got, err := l.c.XReadGroup(l.ctx, &redis.XReadGroupArgs{Group: group, Consumer: consumer,
		Streams: []string{"log", ">"}, Count: 7, Block: 20 * time.Millisecond}).Result()
	if err == redis.Nil || !assert.NoError(l, err) {
		return nil
	}
	for _, m := range got[0].Messages {
		assert.EqualValues(l, 1, l.c.XAck(l.ctx, "log", group, m.ID).Val())
	}
	return got[0].Messages
}

// bill takes entries until all of them are billed.
func (l *sharedLog) bill(biller string) {
	for end := time.Now().Add(patience); l.left.Load() > 0 && time.Now().Before(end); {
		for _, m := range l.take("billing", biller) {
			_, twice := l.billed.LoadOrStore(m.ID, biller)
			assert.False(l, twice, "%s was billed twice", m.ID)
			l.left.Add(-1)
		}
	}
}

// audit takes n entries.
func (l *sharedLog) audit(n int) {
	for end := time.Now().Add(patience); len(l.audited) < n && time.Now().Before(end); {
		for _, m := range l.take("audit", "auditor") {
			l.audited = append(l.audited, m.ID)
		}
	}
}

// TestLogOfTwoGroups has two groups read the same log. The auditor reads everything in order,
// alone. Three billers share it. A group that comes later sees what comes later, and can start
// over.
func TestLogOfTwoGroups(t *testing.T) {
	everywhere(t, func(e *env) {
		const producers, each, billers = 2, 100, 3
		opt := e.opt
		opt.PoolSize = producers + billers + 1
		l := &sharedLog{env: e, c: redis.NewClient(&opt)}
		defer l.c.Close()
		l.left.Store(producers * each)
		for _, group := range []string{"audit", "billing"} {
			require.NoError(e, l.c.XGroupCreateMkStream(e.ctx, "log", group, "0").Err())
		}
		together(producers+billers+1, func(i int) {
			switch {
			case i < producers:
				for n := range each {
					assert.NoError(e, l.c.XAdd(e.ctx, &redis.XAddArgs{Stream: "log",
						Values: map[string]any{"producer": i, "n": n}}).Err())
				}
			case i < producers+billers:
				l.bill(fmt.Sprint("biller", i))
			default:
				l.audit(producers * each)
			}
		})
		var all []string
		for from := "-"; ; from = "(" + all[len(all)-1] {
			page := l.c.XRangeN(e.ctx, "log", from, "+", 64).Val()
			if len(page) == 0 {
				break
			}
			for _, m := range page {
				all = append(all, m.ID)
			}
		}
		require.Len(e, all, producers*each)
		require.Equal(e, all, l.audited)
		require.Zero(e, l.left.Load())
		lateGroup(e, l.c, all)
	})
}

// lateGroup reads a log of these IDs with a group that begins at its end.
func lateGroup(e *env, c *redis.Client, all []string) {
	require.NoError(e, c.XGroupCreate(e.ctx, "log", "late", "$").Err())
	read := func() []redis.XMessage {
		got, err := c.XReadGroup(e.ctx, &redis.XReadGroupArgs{Group: "late", Consumer: "x",
			Streams: []string{"log", ">"}, Block: -1, NoAck: true}).Result()
		if err == redis.Nil {
			return nil
		}
		require.NoError(e, err)
		return got[0].Messages
	}
	require.Empty(e, read())
	last := c.XAdd(e.ctx, &redis.XAddArgs{Stream: "log", Values: []any{"n", "last"}}).Val()
	require.Equal(e, []redis.XMessage{{ID: last, Values: map[string]any{"n": "last"}}}, read())
	require.NoError(e, c.XGroupSetID(e.ctx, "log", "late", "0").Err())
	require.Len(e, read(), len(all)+1)
	require.Zero(e, c.XPending(e.ctx, "log", "late").Val().Count)
}

// TestTimeSeries keeps the readings of a sensor under the time of each, for an hour. It asks for
// spans of time, for the newest ones, and for the means of minutes.
func TestTimeSeries(t *testing.T) {
	everywhere(t, func(e *env) {
		const start, hour, step = int64(1_700_000_000_000), int64(3_600_000), int64(5_000)
		type reading struct{ at, value int64 }
		var want []reading
		id := func(at int64) string { return strconv.FormatInt(at, 10) }
		for now := start; now < start+2*hour; {
			_, err := e.c.Pipelined(e.ctx, func(p redis.Pipeliner) error {
				for range 60 {
					now += 1 + rand.Int64N(2*step)
					r := reading{now, rand.Int64N(400) - 50}
					want = append(want, r)
					p.XAdd(e.ctx, &redis.XAddArgs{Stream: "temp", ID: id(r.at) + "-1",
						MinID: id(now - hour), Values: []any{"v", r.value}})
				}
				return nil
			})
			require.NoError(e, err)
		}
		oldest := want[len(want)-1].at - hour
		for want[0].at < oldest {
			want = want[1:]
		}
		// values returns the readings of a reply.
		values := func(got []redis.XMessage) (all []reading) {
			for _, m := range got {
				var r reading
				_, err := fmt.Sscanf(m.ID, "%d-1", &r.at)
				require.NoError(e, err)
				r.value, err = strconv.ParseInt(m.Values["v"].(string), 10, 64)
				require.NoError(e, err)
				all = append(all, r)
			}
			return all
		}
		require.Equal(e, want, values(e.c.XRange(e.ctx, "temp", "-", "+").Val()))
		last := e.c.XRevRangeN(e.ctx, "temp", "+", "-", 1).Val()
		require.Equal(e, want[len(want)-1:], values(last))
		for range 20 {
			from := oldest + rand.Int64N(hour)
			to := from + 60_000
			sum, n := int64(0), int64(0)
			for _, r := range want {
				if from <= r.at && r.at < to {
					sum, n = sum+r.value, n+1
				}
			}
			// An end without a sequence number means the last of its millisecond.
			for _, r := range values(e.c.XRange(e.ctx, "temp", id(from), id(to-1)).Val()) {
				sum, n = sum-r.value, n-1
			}
			require.Zero(e, n)
			require.Zero(e, sum)
		}
		// A bound of the length that need not be exact keeps at least so many.
		require.Positive(e, e.c.XTrimMaxLenApprox(e.ctx, "temp", 150, 0).Val())
		n := e.c.XLen(e.ctx, "temp").Val()
		require.GreaterOrEqual(e, n, int64(150))
		require.Less(e, n, int64(250), "at most a node of 100 entries is above the bound")
		require.Equal(e, want[len(want)-int(n):], values(e.c.XRange(e.ctx, "temp", "-", "+").Val()))
	})
}
