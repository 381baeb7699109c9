package engine

import (
	"bytes"
	"strconv"

	"godwit/internal/config"
	"godwit/internal/keyspace"
	"godwit/internal/pubsub"
)

// fieldEvent publishes the fields of a hash that an event is about (Redis 8.8), on the channels
// that notify-keyspace-events asks for:
//
//	__subkeyspace@<db>__:<key>               <event>|<fields>
//	__subkeyevent@<db>__:<event>             <length of key>:<key>|<fields>
//	__subkeyspaceitem@<db>__:<key>\n<field>  <event>, for each field
//	__subkeyspaceevent@<db>__:<event>|<key>  <fields>
//
// <fields> is <length>:<field>, for each, with commas between them. A key with a newline has no
// channels for its fields.
func (e *Engine) fieldEvent(event string, key []byte, fields keyspace.FieldNames, db int) {
	if e.hub.Subscribers() == 0 || e.loading.on {
		return
	}
	f := e.Cfg.NotifyKeyspaceEvents
	b, msg := e.pushing.channel[:0], e.pushing.message[:0]
	if f&config.NotifyFieldspace != 0 {
		b = append(eventChannel(b, "__subkeyspace@", db), key...)
		msg = append(append(msg, event...), '|')
		msg = appendFields(msg, fields)
		e.Publish(pubsub.Channels, b, msg)
	}
	if f&config.NotifyFieldevent != 0 {
		b = append(eventChannel(b[:0], "__subkeyevent@", db), event...)
		msg = append(appendCounted(msg[:0], key), '|')
		msg = appendFields(msg, fields)
		e.Publish(pubsub.Channels, b, msg)
	}
	if f&config.NotifyFielditem != 0 && bytes.IndexByte(key, '\n') < 0 {
		b = append(eventChannel(b[:0], "__subkeyspaceitem@", db), key...)
		b = append(b, '\n')
		n := len(b)
		for i := 0; i < len(fields.List); i += fields.Step {
			b = append(b[:n], fields.List[i]...)
			e.Publish(pubsub.Channels, b, []byte(event))
		}
	}
	if f&config.NotifyFieldboth != 0 {
		b = append(eventChannel(b[:0], "__subkeyspaceevent@", db), event...)
		b = append(append(b, '|'), key...)
		msg = appendFields(msg[:0], fields)
		e.Publish(pubsub.Channels, b, msg)
	}
	e.pushing.channel, e.pushing.message = b, msg
}

func appendFields(b []byte, fields keyspace.FieldNames) []byte {
	for i := 0; i < len(fields.List); i += fields.Step {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendCounted(b, fields.List[i])
	}
	return b
}

// appendCounted appends the name with its length.
func appendCounted(b, name []byte) []byte {
	b = append(strconv.AppendInt(b, int64(len(name)), 10), ':')
	return append(b, name...)
}
