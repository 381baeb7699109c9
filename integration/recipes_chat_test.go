package integration

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// chat is a group whose members pull its messages. chat:ID holds what each member has seen,
// seen:USER what the user has seen of each group, and msgs:ID the messages by number.
type chat struct{ e *env }

func (c chat) create(id string, users ...string) error {
	_, err := c.e.c.TxPipelined(c.e.ctx, func(p redis.Pipeliner) error {
		for _, u := range users {
			p.ZAdd(c.e.ctx, "chat:"+id, redis.Z{Member: u})
			p.ZAdd(c.e.ctx, "seen:"+u, redis.Z{Member: id})
		}
		return nil
	})
	return err
}

// send numbers a message and adds it. It does both under the group's lock, so nobody sees message n
// before message n-1 is there.
func (c chat) send(id, from, text string) error {
	me := owner()
	if err := acquire(c.e.ctx, c.e.c, "lock:chat:"+id, me, time.Minute); err != nil {
		return err
	}
	defer release(c.e.ctx, c.e.c, "lock:chat:"+id, me)
	n, err := c.e.c.Incr(c.e.ctx, "ids:"+id).Result()
	if err != nil {
		return err
	}
	return c.e.c.ZAdd(c.e.ctx, "msgs:"+id,
		redis.Z{Score: float64(n), Member: fmt.Sprint(n, " ", from, ": ", text)}).Err()
}

// fetch returns what is new in all groups of the user, marks it as seen, and deletes what everybody
// has seen.
func (c chat) fetch(user string) (map[string][]string, error) {
	e := c.e
	groups, err := e.c.ZRangeWithScores(e.ctx, "seen:"+user, 0, -1).Result()
	if err != nil || len(groups) == 0 {
		return nil, err
	}
	news := make([]*redis.StringSliceCmd, len(groups))
	_, err = e.c.TxPipelined(e.ctx, func(p redis.Pipeliner) error {
		for i, g := range groups {
			news[i] = p.ZRangeByScore(e.ctx, "msgs:"+g.Member.(string),
				&redis.ZRangeBy{Min: fmt.Sprintf("(%v", g.Score), Max: "+inf"})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for i, g := range groups {
		msgs, id := news[i].Val(), g.Member.(string)
		if len(msgs) == 0 {
			continue
		}
		out[id] = msgs
		last, _, _ := strings.Cut(msgs[len(msgs)-1], " ")
		seen, err := strconv.ParseFloat(last, 64)
		if err != nil {
			return nil, err
		}
		_, err = e.c.TxPipelined(e.ctx, func(p redis.Pipeliner) error {
			p.ZAdd(e.ctx, "chat:"+id, redis.Z{Score: seen, Member: user})
			p.ZAdd(e.ctx, "seen:"+user, redis.Z{Score: seen, Member: id})
			return nil
		})
		if err != nil {
			return nil, err
		}
		if oldest := e.c.ZRangeWithScores(e.ctx, "chat:"+id, 0, 0).Val(); len(oldest) > 0 {
			if err := e.c.ZRemRangeByScore(e.ctx, "msgs:"+id, "0",
				fmt.Sprint(oldest[0].Score)).Err(); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// leave takes the user out of the group. The group ends with its last member.
func (c chat) leave(id, user string) error {
	e := c.e
	var members *redis.IntCmd
	_, err := e.c.TxPipelined(e.ctx, func(p redis.Pipeliner) error {
		p.ZRem(e.ctx, "chat:"+id, user)
		p.ZRem(e.ctx, "seen:"+user, id)
		members = p.ZCard(e.ctx, "chat:"+id)
		return nil
	})
	if err != nil || members.Val() > 0 {
		return err
	}
	return e.c.Del(e.ctx, "msgs:"+id, "ids:"+id).Err()
}

// TestGroupChat checks that everybody gets every message once, in order, and that messages are
// deleted when all have seen them. One member dies without ever fetching, and what it has not seen
// stays.
func TestGroupChat(t *testing.T) {
	everywhere(t, func(e *env) {
		const users, each = 4, 12
		c := chat{e}
		var names []string
		for u := range users {
			names = append(names, fmt.Sprint("user", u))
		}
		require.NoError(e, c.create("1", append([]string{"dead"}, names...)...))
		require.NoError(e, c.create("2", names...))
		got := make([]map[string][]string, users)
		together(users, func(u int) {
			got[u] = map[string][]string{}
			fetch := func() {
				news, err := c.fetch(names[u])
				assert.NoError(e, err)
				for id, msgs := range news {
					got[u][id] = append(got[u][id], msgs...)
				}
			}
			for i := range each {
				assert.NoError(e, c.send(strconv.Itoa(1+i%2), names[u], fmt.Sprint("text ", i)))
				fetch()
			}
		})
		for u := range users {
			news, err := c.fetch(names[u])
			require.NoError(e, err)
			for id, msgs := range news {
				got[u][id] = append(got[u][id], msgs...)
			}
			for _, id := range []string{"1", "2"} {
				require.Len(e, got[u][id], users*each/2, "group %s, user %d", id, u)
				for i, msg := range got[u][id] {
					require.True(e, strings.HasPrefix(msg, fmt.Sprint(i+1, " ")),
						"message %d is %s", i+1, msg)
				}
			}
		}
		require.EqualValues(e, users*each/2, e.c.ZCard(e.ctx, "msgs:1").Val(),
			"the dead one has seen nothing")
		require.Zero(e, e.c.ZCard(e.ctx, "msgs:2").Val())
		for _, id := range []string{"1", "2"} {
			for _, u := range append([]string{"dead"}, names...) {
				require.NoError(e, c.leave(id, u))
			}
		}
		require.Zero(e, e.c.DBSize(e.ctx).Val(), e.c.Keys(e.ctx, "*").Val())
	})
}
