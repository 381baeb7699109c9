package replication

import (
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp/client"
)

// TestPublish has subscribers of a replica and of its replica hear what is published on the master,
// in order with what is written: also from transactions and scripts. What is published on a replica
// stays there.
func TestPublish(t *testing.T) {
	forPairs(t, ours(), func(t *testing.T, p pair) {
		master, replica := p.start(t)
		link(t, replica, master.Addr)
		heard := replica.Client(t)
		for _, args := range [][]any{{"SUBSCRIBE", "c"}, {"PSUBSCRIBE", "p*"},
			{"SSUBSCRIBE", "s"}} {
			_, err := heard.Do(args...)
			require.NoError(t, err)
		}
		do(t, master, "PUBLISH", "c", "1")
		do(t, master, "PUBLISH", "pattern", "2")
		do(t, master, "SPUBLISH", "s", "3")
		do(t, master, "EVAL", "redis.call('set', 'k', 'v') redis.call('publish', 'c', '4')", 0)
		c := master.Client(t)
		for _, args := range [][]any{{"MULTI"}, {"SET", "k", "w"}, {"PUBLISH", "c", "5"},
			{"EXEC"}} {
			c.Queue(args...)
		}
		_, err := c.Pipeline()
		require.NoError(t, err)
		require.Equal(t, []string{"1", "2", "3", "4", "5"}, messages(t, heard, 5))
		require.Equal(t, "w", do(t, replica, "GET", "k"))

		above := master.Client(t)
		_, err = above.Do("SUBSCRIBE", "c")
		require.NoError(t, err)
		do(t, replica, "PUBLISH", "c", "below")
		require.Equal(t, []string{"below"}, messages(t, heard, 1))
		do(t, master, "PUBLISH", "c", "above")
		require.Equal(t, []string{"above"}, messages(t, above, 1))
	})
}

// messages returns the texts of the next messages of a subscriber.
func messages(t *testing.T, c *client.Client, n int) (texts []string) {
	t.Helper()
	for range n {
		v, err := c.Receive()
		require.NoError(t, err)
		require.NotEmpty(t, v.Elems)
		texts = append(texts, v.Elems[len(v.Elems)-1].Text())
	}
	return texts
}
