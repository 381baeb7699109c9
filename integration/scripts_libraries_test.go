package integration

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redis/redis_rate/v10"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"github.com/ulule/limiter/v3"
	ulule "github.com/ulule/limiter/v3/drivers/store/redis"
)

// The scripts of other people's libraries: locks, rate limiters and a queue.

// libraryClient returns a client of a server of its own.
func libraryClient(t *testing.T) *redis.Client {
	t.Parallel()
	c := redis.NewClient(&redis.Options{Addr: startServer(t).Addr})
	t.Cleanup(func() { c.Close() })
	return c
}

func TestLocksOfLibraries(t *testing.T) {
	c, ctx := libraryClient(t), t.Context()
	t.Run("redislock", func(t *testing.T) {
		locks := redislock.New(c)
		lock, err := locks.Obtain(ctx, "lock", time.Minute, nil)
		require.NoError(t, err)
		_, err = locks.Obtain(ctx, "lock", time.Minute, nil)
		require.ErrorIs(t, err, redislock.ErrNotObtained)
		require.NoError(t, lock.Refresh(ctx, time.Hour, nil))
		ttl, err := lock.TTL(ctx)
		require.NoError(t, err)
		require.Greater(t, ttl, time.Minute)
		require.NoError(t, lock.Release(ctx))
		require.ErrorIs(t, lock.Release(ctx), redislock.ErrLockNotHeld)
	})
	t.Run("redsync", func(t *testing.T) {
		locks := redsync.New(goredis.NewPool(c))
		mine, theirs := locks.NewMutex("m", redsync.WithTries(1)), locks.NewMutex("m")
		require.NoError(t, mine.Lock())
		require.Error(t, theirs.TryLock())
		ok, err := mine.Extend()
		require.NoError(t, err)
		require.True(t, ok)
		_, err = theirs.Unlock()
		require.Error(t, err)
		ok, err = mine.Unlock()
		require.NoError(t, err)
		require.True(t, ok)
		require.NoError(t, theirs.TryLock())
	})
}

func TestLimitersOfLibraries(t *testing.T) {
	c, ctx := libraryClient(t), t.Context()
	t.Run("redis_rate", func(t *testing.T) {
		l := redis_rate.NewLimiter(c)
		rate := redis_rate.PerHour(5)
		for i := range 5 {
			r, err := l.Allow(ctx, "user", rate)
			require.NoError(t, err)
			require.Equal(t, []int{1, 4 - i}, []int{r.Allowed, r.Remaining})
		}
		r, err := l.Allow(ctx, "user", rate)
		require.NoError(t, err)
		require.Zero(t, r.Allowed)
		require.Greater(t, r.RetryAfter, 11*time.Minute)
		require.LessOrEqual(t, r.RetryAfter, 12*time.Minute)
		require.Greater(t, r.ResetAfter, 59*time.Minute)
		r, err = l.AllowAtMost(ctx, "other", rate, 8)
		require.NoError(t, err)
		require.Equal(t, 5, r.Allowed)
		require.NoError(t, l.Reset(ctx, "user"))
		r, err = l.AllowN(ctx, "user", rate, 3)
		require.NoError(t, err)
		require.Equal(t, []int{3, 2}, []int{r.Allowed, r.Remaining})
	})
	t.Run("ulule", func(t *testing.T) {
		store, err := ulule.NewStore(c)
		require.NoError(t, err)
		l := limiter.New(store, limiter.Rate{Period: time.Hour, Limit: 3})
		for i := range 5 {
			got, err := l.Get(ctx, "user")
			require.NoError(t, err)
			require.Equal(t, int64(max(2-i, 0)), got.Remaining)
			require.Equal(t, i >= 3, got.Reached)
		}
		got, err := l.Peek(ctx, "user")
		require.NoError(t, err)
		require.True(t, got.Reached)
		got, err = l.Reset(ctx, "user")
		require.NoError(t, err)
		require.False(t, got.Reached)
	})
}

// TestAsynq runs a queue of tasks: unique, delayed, failing and kept ones.
func TestAsynq(t *testing.T) {
	c, ctx := libraryClient(t), t.Context()
	tasks := asynq.NewClientFromRedisClient(c)
	look := asynq.NewInspectorFromRedisClient(c)
	add := func(name string, opts ...asynq.Option) error {
		_, err := tasks.EnqueueContext(ctx, asynq.NewTask(name, []byte("payload")), opts...)
		return err
	}
	require.NoError(t, add("once", asynq.Unique(time.Hour), asynq.Retention(time.Hour)))
	require.ErrorIs(t, add("once", asynq.Unique(time.Hour)), asynq.ErrDuplicateTask)
	require.NoError(t, add("named", asynq.TaskID("id"), asynq.Retention(time.Hour)))
	require.ErrorIs(t, add("named", asynq.TaskID("id")), asynq.ErrTaskIDConflict)
	require.NoError(t, add("later", asynq.ProcessIn(time.Hour)))
	require.NoError(t, add("soon", asynq.ProcessIn(time.Second), asynq.Retention(time.Hour)))
	require.NoError(t, add("hopeless", asynq.MaxRetry(0)))
	require.NoError(t, add("fails", asynq.MaxRetry(5)))
	info, err := look.GetQueueInfo("default")
	require.NoError(t, err)
	require.Equal(t, []int{4, 2, 6}, []int{info.Pending, info.Scheduled, info.Size})

	var done atomic.Int32
	s := asynq.NewServerFromRedisClient(c, asynq.Config{Concurrency: 2, LogLevel: asynq.FatalLevel,
		TaskCheckInterval: 50 * time.Millisecond, DelayedTaskCheckInterval: 50 * time.Millisecond})
	require.NoError(t, s.Start(asynq.HandlerFunc(func(_ context.Context, task *asynq.Task) error {
		if task.Type() == "hopeless" || task.Type() == "fails" {
			return errors.New("no")
		}
		done.Add(1)
		return nil
	})))
	require.Eventually(t, func() bool {
		info, err := look.GetQueueInfo("default")
		return err == nil && done.Load() == 3 && info.Completed == 3 && info.Archived == 1 &&
			info.Retry == 1 && info.Scheduled == 1
	}, patience, 20*time.Millisecond)
	s.Shutdown()

	archived, err := look.ListArchivedTasks("default")
	require.NoError(t, err)
	require.Equal(t, "hopeless", archived[0].Type)
	require.NoError(t, look.RunTask("default", archived[0].ID))
	n, err := look.RunAllRetryTasks("default")
	require.NoError(t, err)
	require.Equal(t, 1, n)
	n, err = look.ArchiveAllScheduledTasks("default")
	require.NoError(t, err)
	require.Equal(t, 1, n)
	n, err = look.DeleteAllCompletedTasks("default")
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.ErrorIs(t, look.DeleteQueue("default", false), asynq.ErrQueueNotEmpty)
	require.NoError(t, look.DeleteQueue("default", true))
	queues, err := look.Queues()
	require.NoError(t, err)
	require.Empty(t, queues)
}
