package engine

import (
	"slices"
	"strings"

	"godwit/internal/pubsub"
	"godwit/internal/resp"
	"godwit/internal/slot"
)

// Forward sends the running command's message to the other nodes, or to replicas where there is no
// cluster: their subscribers hear of it too.
func (c *Ctx) Forward(k pubsub.SubscriptionKind, channel, message []byte) {
	e := c.E
	if !e.cluster.on {
		c.PropagateMessage()
		return
	}
	if e.Cluster == nil {
		return
	}
	kind := MessageToAll
	if k == pubsub.Shards {
		kind = MessageToShard
	}
	e.Cluster.Broadcast(kind, channel, message)
}

// DeliverMessage gives a message that another node has sent with Broadcast to the subscribers here.
func (e *Engine) DeliverMessage(kind MessageKind, channel, message []byte) {
	k := pubsub.Channels
	if kind == MessageToShard {
		k = pubsub.Shards
	}
	e.Publish(k, channel, message)
}

// dropShardChannels ends the subscriptions to shard channels of slots that the node's shard has
// lost.
func (e *Engine) dropShardChannels(lost *slot.Set) {
	var gone []*pubsub.Topic[*Client]
	e.hub.Topics(pubsub.Shards, func(t *pubsub.Topic[*Client]) {
		if lost.Has(slot.Of([]byte(t.Name))) {
			gone = append(gone, t)
		}
	})
	slices.SortFunc(gone, func(a, b *pubsub.Topic[*Client]) int {
		return strings.Compare(a.Name, b.Name)
	})
	for _, t := range gone {
		var list []*Client
		t.Each(func(c *Client) { list = append(list, c) })
		for _, c := range list {
			e.hub.Unsubscribe(&c.sub, pubsub.Shards, []byte(t.Name))
			w := resp.Writer{Buf: e.pushing.scratch[:0]}
			w.Array(3)
			w.BulkString("sunsubscribe")
			w.BulkString(t.Name)
			w.Int(int64(c.sub.Len(pubsub.Shards)))
			e.pushing.scratch = w.Buf
			e.push(c, w.Buf)
			c.leftPubSub()
		}
	}
}
