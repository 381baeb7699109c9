package integration

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// entriesOf returns entries with one field "n" each, from IDs and values in turn.
func entriesOf(idValues ...string) (all []redis.XMessage) {
	for i := 0; i < len(idValues); i += 2 {
		all = append(all, redis.XMessage{ID: idValues[i],
			Values: map[string]any{"n": idValues[i+1]}})
	}
	return all
}

// addEntries adds entries 1-0, 2-0, … to n-0 with their numbers.
func addEntries(e *env, key string, n int) {
	e.Helper()
	for i := range n {
		id := fmt.Sprintf("%d-0", i+1)
		got, err := e.c.XAdd(e.ctx, &redis.XAddArgs{Stream: key, ID: id,
			Values: []any{"n", i + 1}}).Result()
		require.NoError(e, err)
		require.Equal(e, id, got)
	}
}

func TestStreams(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		require.ErrorIs(e, c.XAdd(ctx, &redis.XAddArgs{Stream: "s", NoMkStream: true,
			Values: []any{"n", 1}}).Err(), redis.Nil)
		addEntries(e, "s", 5)
		e.errs(c.XAdd(ctx, &redis.XAddArgs{Stream: "s", ID: "5-0", Values: []any{"n", 1}}).Err(),
			"ERR The ID specified in XADD is equal or smaller than the target stream top item")
		require.EqualValues(e, 5, c.XLen(ctx, "s").Val())
		require.Equal(e, entriesOf("2-0", "2", "3-0", "3"),
			c.XRangeN(ctx, "s", "(1-0", "+", 2).Val())
		require.Equal(e, entriesOf("5-0", "5", "4-0", "4"), c.XRevRange(ctx, "s", "+", "4").Val())
		require.EqualValues(e, 1, c.XDel(ctx, "s", "2-0", "9-9").Val())
		require.EqualValues(e, 1, c.XTrimMaxLen(ctx, "s", 3).Val())
		require.EqualValues(e, 1, c.XTrimMinID(ctx, "s", "4").Val())
		rest := entriesOf("4-0", "4", "5-0", "5")
		require.Equal(e, []redis.XStream{{Stream: "s", Messages: rest}},
			c.XReadStreams(ctx, "s", "none", "0", "0").Val())
		require.ErrorIs(e, c.XRead(ctx, &redis.XReadArgs{Streams: []string{"s"}, ID: "$",
			Block: 5 * time.Millisecond}).Err(), redis.Nil)
		info := c.XInfoStream(ctx, "s").Val()
		require.EqualValues(e, [3]int64{2, 5, 0},
			[3]int64{info.Length, info.EntriesAdded, info.Groups})
		require.Equal(e, []string{"5-0", "2-0", "4-0"},
			[]string{info.LastGeneratedID, info.MaxDeletedEntryID, info.RecordedFirstEntryID})
		require.Equal(e, rest, []redis.XMessage{info.FirstEntry, info.LastEntry})
		require.Equal(e, "stream", c.Type(ctx, "s").Val())
		e.errs(c.Get(ctx, "s").Err(), wrongType)
	})
}

func TestStreamGroups(t *testing.T) {
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		read := func(consumer, id string, count int64) []redis.XMessage {
			got, err := c.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g", Consumer: consumer,
				Streams: []string{"s", id}, Count: count, Block: -1}).Result()
			require.NoError(e, err)
			require.Len(e, got, 1)
			return got[0].Messages
		}
		require.NoError(e, c.XGroupCreateMkStream(ctx, "s", "g", "$").Err())
		e.errs(c.XGroupCreate(ctx, "s", "g", "0").Err(),
			"BUSYGROUP Consumer Group name already exists")
		addEntries(e, "s", 4)
		require.EqualValues(e, 1, c.XGroupCreateConsumer(ctx, "s", "g", "ann").Val())
		require.Equal(e, entriesOf("1-0", "1", "2-0", "2"), read("ann", ">", 2))
		require.Equal(e, entriesOf("3-0", "3"), read("bob", ">", 1))
		require.EqualValues(e, 1, c.XAck(ctx, "s", "g", "1-0", "4-0").Val())
		require.Equal(e, entriesOf("2-0", "2"), read("ann", "0", 10))
		require.Equal(e, &redis.XPending{Count: 2, Lower: "2-0", Higher: "3-0",
			Consumers: map[string]int64{"ann": 1, "bob": 1}}, c.XPending(ctx, "s", "g").Val())
		require.Equal(e, entriesOf("2-0", "2"), c.XClaim(ctx, &redis.XClaimArgs{Stream: "s",
			Group: "g", Consumer: "bob", Messages: []string{"2-0"}}).Val())
		ext := c.XPendingExt(ctx, &redis.XPendingExtArgs{Stream: "s", Group: "g", Start: "-",
			End: "+", Count: 10, Consumer: "bob"}).Val()
		require.Len(e, ext, 2)
		require.Equal(e, []int64{3, 1}, []int64{ext[0].RetryCount, ext[1].RetryCount})
		require.EqualValues(e, 1, c.XDel(ctx, "s", "2-0").Val())
		claimed, next, deleted, err := c.XAutoClaimWithDeleted(ctx, &redis.XAutoClaimArgs{
			Stream: "s", Group: "g", Consumer: "ann", Start: "0"}).Result()
		require.NoError(e, err)
		require.Equal(e, entriesOf("3-0", "3"), claimed)
		require.Equal(e, []string{"0-0", "2-0"}, []string{next, deleted[0]})
		groups := c.XInfoGroups(ctx, "s").Val()
		require.Equal(e, []redis.XInfoGroup{{Name: "g", Consumers: 2, Pending: 1,
			LastDeliveredID: "3-0", EntriesRead: 3, Lag: 1}}, groups)
		consumers := c.XInfoConsumers(ctx, "s", "g").Val()
		require.Equal(e, [2]any{"ann", int64(1)}, [2]any{consumers[0].Name, consumers[0].Pending})
		full := c.XInfoStreamFull(ctx, "s", 2).Val()
		require.Equal(e, entriesOf("1-0", "1", "3-0", "3"), full.Entries)
		require.EqualValues(e, 1, full.Groups[0].PelCount)
		require.Equal(e, "3-0", full.Groups[0].Consumers[0].Pending[0].ID)
		require.EqualValues(e, 1, c.XGroupDelConsumer(ctx, "s", "g", "ann").Val())
		require.EqualValues(e, 1, c.XGroupDestroy(ctx, "s", "g").Val())
	})
}

// TestNewStreams does what TestStreams does with commands that redis-server 7.0 does not have.
func TestNewStreams(t *testing.T) {
	godwitOnly(t)
	everywhere(t, func(e *env) {
		c, ctx := e.c, e.ctx
		once := &redis.XAddArgs{Stream: "s", ProducerID: "p", IdempotentID: "1",
			Values: []any{"n", "1"}}
		id := c.XAdd(ctx, once).Val()
		require.Equal(e, id, c.XAdd(ctx, once).Val(), "an entry that is sent again is not added")
		require.NoError(e, c.XCfgSet(ctx, &redis.XCfgSetArgs{Stream: "s", Duration: 5}).Err())
		require.EqualValues(e, 5, c.XInfoStream(ctx, "s").Val().IDMPDuration)
		require.NoError(e, c.XGroupCreate(ctx, "s", "g", "0").Err())
		got, err := c.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g", Consumer: "ann",
			Streams: []string{"s", ">"}, MaxCount: 1, Block: -1}).Result()
		require.NoError(e, err)
		require.Equal(e, entriesOf(id, "1"), got[0].Messages)
		require.EqualValues(e, 1, c.XNack(ctx, &redis.XNackArgs{Stream: "s", Group: "g",
			Mode: redis.XNackModeFail, IDs: []string{id}}).Val())
		require.EqualValues(e, 1, c.XInfoStreamFull(ctx, "s", 1).Val().Groups[0].NackedCount)
		got, err = c.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g", Consumer: "bob",
			Streams: []string{"s", ">"}, Claim: time.Hour, Block: -1}).Result()
		require.NoError(e, err)
		require.Equal(e, id, got[0].Messages[0].ID)
		require.EqualValues(e, 1, got[0].Messages[0].DeliveredCount)
		require.Equal(e, []any{int64(2)}, c.XDelEx(ctx, "s", "ACKED", id).Val())
		require.Equal(e, []any{int64(1)}, c.XAckDel(ctx, "s", "g", "ACKED", id).Val())
		require.Zero(e, c.XLen(ctx, "s").Val())
	})
}
