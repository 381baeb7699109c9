// Package pubsub holds channel subscriptions and the client-side caching table: subscriptions to
// channels, patterns and shard channels (Hub), which clients may have cached which keys (Table),
// and who wants to hear of all keys with a prefix (Broadcast). It delivers nothing: its users walk
// the receivers.
//
// Nothing here locks; everything belongs to the executor.
//
// # The hub
//
// A topic is a channel, a pattern or a shard channel with at least one subscriber. Topics and
// subscribers know each other's positions:
//
//	Hub.topics[Channels]["news"] → Topic   members: │ sub 7, slot 0 │ sub 9, slot 1 │
//	                                                      │                │
//	                      Sub 9   lists[Channels]:  │ …, at 3 │ "news", at 1 │
//
// So subscribing and unsubscribing cost O(1), leaving costs O(own subscriptions), and publishing
// walks one slice. When an element leaves a slice, the last one takes its place: receivers are told
// in no particular order.
//
// Patterns are found by their literal beginnings (prefixIndex). A message is matched only against
// the patterns that begin like its channel, and against each once, however many have subscribed to
// it. With P such patterns and a channel of n bytes that costs at most O(P · n · length of a
// pattern), see package scan. Patterns such as "news.*" usually take one map lookup.
//
// Invariants: a topic is in its map while it has members; member.slot and place.at point at each
// other.
package pubsub

import (
	"slices"

	"godwit/internal/scan"
)

// SubscriptionKind says what a subscription is to.
type SubscriptionKind uint8

// The kinds.
const (
	Channels SubscriptionKind = iota
	Patterns
	Shards
	kinds
)

// Hub holds all subscriptions. O is how the hub's user identifies a subscriber; it should be a
// pointer.
type Hub[O any] struct {
	topics      [kinds]map[string]*Topic[O]
	patterns    prefixIndex[[]*Topic[O]]
	subscribers int
	bytes       int64 // of all topics, see topicBytes
}

// Topic is what messages are published to.
type Topic[O any] struct {
	Name    string
	members []member[O]
	pattern []byte // Name, for patterns
	begin   string // key in the index of patterns
}

type member[O any] struct {
	owner O
	sub   *Sub[O]
	slot  int // in the list of sub
}

// Sub is one subscriber. The zero value with an Owner is ready.
type Sub[O any] struct {
	Owner O
	lists [kinds][]place[O]
	index [kinds]map[*Topic[O]]int // positions in lists, once they are long
	bytes int
}

type place[O any] struct {
	topic *Topic[O]
	at    int // in topic.members
}

const (
	// indexFrom is the number of subscriptions from which a subscriber has an index of them.
	indexFrom = 16
	// placeBytes is the approximate size of one subscription without its name: place, member, a
	// share of maps.
	placeBytes = 96
	// topicBytes is the approximate size of a topic without its name: itself and its place in the
	// map. A pattern's index takes as much again, and the name's bytes once more.
	topicBytes = 128
)

// Subscribe adds a subscription and reports whether it is new.
func (h *Hub[O]) Subscribe(s *Sub[O], k SubscriptionKind, name []byte) bool {
	t := h.topics[k][string(name)]
	if t == nil {
		t = h.open(k, string(name))
	} else if s.find(k, t) >= 0 {
		return false
	}
	if s.Total() == 0 {
		h.subscribers++
	}
	slot := len(s.lists[k])
	s.lists[k] = append(s.lists[k], place[O]{t, len(t.members)})
	t.members = append(t.members, member[O]{s.Owner, s, slot})
	s.bytes += placeBytes + len(name)
	s.indexed(k, t, slot)
	return true
}

// indexed records the position of a new subscription.
func (s *Sub[O]) indexed(k SubscriptionKind, t *Topic[O], slot int) {
	if s.index[k] != nil {
		s.index[k][t] = slot
		return
	}
	if list := s.lists[k]; len(list) >= indexFrom {
		s.index[k] = make(map[*Topic[O]]int, 2*len(list))
		for i, p := range list {
			s.index[k][p.topic] = i
		}
	}
}

// find returns the position of the topic among the subscriptions, or -1.
func (s *Sub[O]) find(k SubscriptionKind, t *Topic[O]) int {
	if s.index[k] != nil {
		if i, ok := s.index[k][t]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(s.lists[k], func(p place[O]) bool { return p.topic == t })
}

// open makes a topic.
func (h *Hub[O]) open(k SubscriptionKind, name string) *Topic[O] {
	t := &Topic[O]{Name: name}
	if h.topics[k] == nil {
		h.topics[k] = map[string]*Topic[O]{}
	}
	h.topics[k][name] = t
	h.bytes += t.bytes(k)
	if k == Patterns {
		t.pattern = []byte(name)
		t.begin = literal(name)
		list := h.patterns.at(t.begin)
		*list = append(*list, t)
	}
	return t
}

// close removes a topic without members.
func (h *Hub[O]) close(k SubscriptionKind, t *Topic[O]) {
	delete(h.topics[k], t.Name)
	h.bytes -= t.bytes(k)
	if k != Patterns {
		return
	}
	list := h.patterns.at(t.begin)
	*list = slices.DeleteFunc(*list, func(o *Topic[O]) bool { return o == t })
	if len(*list) == 0 {
		h.patterns.remove(t.begin)
	}
}

// bytes returns the approximate size of the topic. It leaves out its name and its members, which
// count for their subscribers.
func (t *Topic[O]) bytes(k SubscriptionKind) int64 {
	if k == Patterns {
		return int64(2*topicBytes + len(t.Name))
	}
	return topicBytes
}

// Unsubscribe ends a subscription and reports whether there was one.
func (h *Hub[O]) Unsubscribe(s *Sub[O], k SubscriptionKind, name []byte) bool {
	t := h.topics[k][string(name)]
	if t == nil {
		return false
	}
	slot := s.find(k, t)
	if slot < 0 {
		return false
	}
	h.drop(s, k, slot)
	return true
}

// drop ends the subscription in a slot of the subscriber's list.
func (h *Hub[O]) drop(s *Sub[O], k SubscriptionKind, slot int) {
	list := s.lists[k]
	p := list[slot]
	t := p.topic
	// The last member of the topic takes the place.
	n := len(t.members) - 1
	moved := t.members[n]
	t.members[p.at] = moved
	moved.sub.lists[k][moved.slot].at = p.at
	t.members[n] = member[O]{}
	t.members = t.members[:n]
	// And so does the last subscription of the list.
	last := len(list) - 1
	if slot != last {
		list[slot] = list[last]
		list[slot].topic.members[list[slot].at].slot = slot
		if s.index[k] != nil {
			s.index[k][list[slot].topic] = slot
		}
	}
	list[last] = place[O]{}
	s.lists[k] = list[:last]
	if delete(s.index[k], t); last == 0 {
		s.lists[k], s.index[k] = nil, nil
	}
	s.bytes -= placeBytes + len(t.Name)
	if n == 0 {
		h.close(k, t)
	} else if c := cap(t.members); c > 64 && n < c/4 {
		t.members = slices.Clone(t.members)
	}
	if s.Total() == 0 {
		h.subscribers--
	}
}

// Leave ends all subscriptions of s.
func (h *Hub[O]) Leave(s *Sub[O]) {
	for k := range kinds {
		for n := len(s.lists[k]); n > 0; n-- {
			h.drop(s, k, n-1)
		}
	}
}

// Len returns the number of subscriptions of the kind.
func (s *Sub[O]) Len(k SubscriptionKind) int { return len(s.lists[k]) }

// Total returns the number of subscriptions.
func (s *Sub[O]) Total() int {
	return len(s.lists[Channels]) + len(s.lists[Patterns]) + len(s.lists[Shards])
}

// Bytes returns the approximate memory of the subscriptions.
func (s *Sub[O]) Bytes() int { return s.bytes }

// Names returns the names that s has subscribed to, in the order of subscribing unless some
// subscriptions have ended.
func (s *Sub[O]) Names(k SubscriptionKind) []string {
	names := make([]string, len(s.lists[k]))
	for i, p := range s.lists[k] {
		names[i] = p.topic.Name
	}
	return names
}

// Count returns the number of topics of the kind.
func (h *Hub[O]) Count(k SubscriptionKind) int { return len(h.topics[k]) }

// Bytes returns the approximate memory of the topics, without what Sub.Bytes counts for each
// subscriber.
func (h *Hub[O]) Bytes() int64 { return h.bytes }

// Subscribers returns how many have subscribed to anything.
func (h *Hub[O]) Subscribers() int { return h.subscribers }

// Topic returns the topic of that name, or nil if nobody has subscribed to it.
func (h *Hub[O]) Topic(k SubscriptionKind, name []byte) *Topic[O] {
	return h.topics[k][string(name)]
}

// Topics calls fn for each topic of the kind, in no order.
func (h *Hub[O]) Topics(k SubscriptionKind, fn func(t *Topic[O])) {
	for _, t := range h.topics[k] {
		fn(t)
	}
}

// Match calls fn for each pattern that matches the channel.
func (h *Hub[O]) Match(channel []byte, fn func(t *Topic[O])) {
	h.patterns.prefixesOf(channel, func(list *[]*Topic[O]) {
		for _, t := range *list {
			if scan.Match(t.pattern, channel, false) {
				fn(t)
			}
		}
	})
}

// Len returns the number of the topic's subscribers.
func (t *Topic[O]) Len() int {
	if t == nil {
		return 0
	}
	return len(t.members)
}

// Each calls fn for each subscriber. fn must not change subscriptions.
func (t *Topic[O]) Each(fn func(o O)) {
	for i := range t.members {
		fn(t.members[i].owner)
	}
}
