package engine

import (
	"strconv"

	"godwit/internal/config"
	"godwit/internal/keyspace"
	"godwit/internal/pubsub"
	"godwit/internal/resp"
)

// Hub returns who has subscribed to what.
func (e *Engine) Hub() *pubsub.Hub[*Client] { return &e.hub }

// Subscriptions returns the client's subscriptions.
func (c *Client) Subscriptions() *pubsub.Sub[*Client] { return &c.sub }

// Subscribe subscribes the client to a channel, pattern or shard channel.
func (e *Engine) Subscribe(c *Client, k pubsub.SubscriptionKind, name []byte) {
	c.sub.Owner = c
	if e.hub.Subscribe(&c.sub, k, name) {
		c.Class = ClassPubSub
	}
}

// Unsubscribe ends a subscription if there is one.
func (e *Engine) Unsubscribe(c *Client, k pubsub.SubscriptionKind, name []byte) {
	if e.hub.Unsubscribe(&c.sub, k, name) {
		c.leftPubSub()
	}
}

// leaveHub ends all of the client's subscriptions without telling it.
func (e *Engine) leaveHub(c *Client) {
	if c.sub.Total() > 0 {
		e.hub.Leave(&c.sub)
		c.leftPubSub()
	}
}

func (c *Client) leftPubSub() {
	if c.sub.Total() == 0 && c.Class == ClassPubSub {
		c.Class = ClassNormal
	}
}

// restricted reports whether the client may only use the commands of WhileSubscribed. In RESP2 it
// could not tell a reply from a message.
func (c *Client) restricted() bool { return c.sub.Total() > 0 && c.W.Proto != 3 }

// Publish sends a message to all who have subscribed to the channel or to a pattern that matches it
// (k is Channels), or to the shard channel (k is Shards). It returns how many messages it has sent.
// Each form of the message is encoded once and appended to every receiver's replies.
func (e *Engine) Publish(k pubsub.SubscriptionKind, channel, message []byte) (n int) {
	if t := e.hub.Topic(k, channel); t != nil {
		w := resp.Writer{Buf: e.pushing.scratch[:0]}
		w.Array(3)
		if k == pubsub.Shards {
			w.BulkString("smessage")
		} else {
			w.BulkString("message")
		}
		w.Bulk(channel)
		w.Bulk(message)
		n = e.fanOut(t, w.Buf)
	}
	if k == pubsub.Channels && e.hub.Count(pubsub.Patterns) > 0 {
		e.hub.Match(channel, func(t *pubsub.Topic[*Client]) {
			w := resp.Writer{Buf: e.pushing.scratch[:0]}
			w.Array(4)
			w.BulkString("pmessage")
			w.BulkString(t.Name)
			w.Bulk(channel)
			w.Bulk(message)
			n += e.fanOut(t, w.Buf)
		})
	}
	return n
}

func (e *Engine) fanOut(t *pubsub.Topic[*Client], msg []byte) int {
	e.pushing.scratch = msg
	t.Each(func(c *Client) { e.push(c, msg) })
	return t.Len()
}

// eventClasses returns the classes of keyspace events that notify-keyspace-events asks for. There
// are none unless it names a channel to announce them on.
func eventClasses(f config.NotifyFlags) (set keyspace.EventClass) {
	if f&(config.NotifyKeyspace|config.NotifyKeyevent) == 0 {
		return 0
	}
	for _, p := range []struct {
		flag  config.NotifyFlags
		class keyspace.EventClass
	}{
		{config.NotifyGeneric, keyspace.EvGeneric}, {config.NotifyString, keyspace.EvString},
		{config.NotifyList, keyspace.EvList}, {config.NotifySet, keyspace.EvSet},
		{config.NotifyHash, keyspace.EvHash}, {config.NotifyZset, keyspace.EvZSet},
		{config.NotifyExpired, keyspace.EvExpired}, {config.NotifyEvicted, keyspace.EvEvicted},
		{config.NotifyStream, keyspace.EvStream}, {config.NotifyKeyMiss, keyspace.EvMiss},
		{config.NotifyModule, keyspace.EvModule}, {config.NotifyNew, keyspace.EvNew},
		{config.NotifyOverwritten, keyspace.EvOverwritten},
		{config.NotifyTypeChanged, keyspace.EvTypeChanged},
	} {
		if f&p.flag != 0 {
			set |= p.class
		}
	}
	return set
}

// keyEvent publishes a keyspace event that notify-keyspace-events asks for.
func (e *Engine) keyEvent(event string, key []byte, db int) {
	if e.hub.Subscribers() == 0 || e.loading.on ||
		e.current != nil && e.current.Origin == OriginImport { // nobody may see these keys yet
		return
	}
	f := e.Cfg.NotifyKeyspaceEvents
	b := e.pushing.channel[:0]
	if f&config.NotifyKeyspace != 0 {
		b = append(eventChannel(b, "__keyspace@", db), key...)
		e.Publish(pubsub.Channels, b, []byte(event))
	}
	if f&config.NotifyKeyevent != 0 {
		b = append(eventChannel(b[:0], "__keyevent@", db), event...)
		e.Publish(pubsub.Channels, b, key)
	}
	e.pushing.channel = b
}

func eventChannel(b []byte, kind string, db int) []byte {
	b = append(b, kind...)
	b = strconv.AppendInt(b, int64(db), 10)
	return append(b, "__:"...)
}
