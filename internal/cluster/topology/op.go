package topology

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"godwit/internal/slot"
)

// Op is an entry of the log: what a node wants to be changed.
type Op struct {
	// By is the node that wants it: the one that a command was sent to, or the leader. It is "" in
	// entries that the leader proposes by itself and that may come twice.
	By NodeID
	// Req numbers the requests of By. No two have the same number, and later ones have higher
	// numbers, also after a restart. An entry with a number that was applied before changes
	// nothing and has the outcome that it had then. 0: it is not numbered.
	Req uint64
	// Do is what is to be changed.
	Do Action
}

// Action is one of the types of the table below. All are values, never pointers.
type Action interface {
	// apply changes the state, or returns a whole error reply and leaves it as it is.
	apply(e *entry) (refusal string)
}

// actions are the types of actions by their names in the log.
var actions = []struct {
	name   string
	decode func([]byte) (Action, error)
	is     func(Action) bool
}{
	row[Init]("init"), row[Admit]("admit"), row[Forget]("forget"), row[Leave]("leave"),
	row[Tell]("tell"), row[Started]("started"), row[SetTimeout]("timeout"), row[Settle]("settle"),
	row[SetFailed]("failed"), row[SetVote]("vote"), row[Replicate]("replicate"),
	row[Vacate]("vacate"), row[Promote]("promote"), row[Decline]("decline"),
	row[SetInSync]("in-sync"),
	row[SetEpoch]("set-epoch"), row[Bump]("bump"), row[AddSlots]("add-slots"),
	row[DelSlots]("del-slots"), row[SetMark]("mark"), row[Unmark]("unmark"), row[Close]("close"),
	row[Move]("move"), row[Open]("open"), row[Begin]("begin"), row[BeginAll]("begin-all"),
	row[Receive]("receive"), row[Dropped]("dropped"), row[Advance]("advance"),
}

func row[T Action](name string) struct {
	name   string
	decode func([]byte) (Action, error)
	is     func(Action) bool
} {
	return struct {
		name   string
		decode func([]byte) (Action, error)
		is     func(Action) bool
	}{
		name,
		func(b []byte) (Action, error) { var a T; err := strict(b, &a); return a, err },
		func(a Action) bool { _, ok := a.(T); return ok },
	}
}

// wire is Op as the log has it.
type wire struct {
	Do   string          `json:"do"`
	By   NodeID          `json:"by,omitempty"`
	Req  uint64          `json:"req,omitempty"`
	With json.RawMessage `json:"with"`
}

// Name returns the action's name in the log.
func (op Op) Name() string {
	for _, r := range actions {
		if r.is(op.Do) {
			return r.name
		}
	}
	return ""
}

// Encode returns the entry as the log has it. Op must have an action of the table.
func (op Op) Encode() []byte {
	with, err := json.Marshal(op.Do)
	if err != nil {
		panic(fmt.Sprintf("topology: %T cannot be encoded: %v", op.Do, err))
	}
	b, err := json.Marshal(wire{Do: op.Name(), By: op.By, Req: op.Req, With: with})
	if err != nil {
		panic(fmt.Sprintf("topology: op cannot be encoded: %v", err))
	}
	return b
}

// ErrUnknownOp reports an entry of a later version. A node that does not know one cannot go on:
// its state would no longer be that of the others.
var ErrUnknownOp = errors.New("unknown kind of entry")

// DecodeOp reads what Encode writes.
func DecodeOp(b []byte) (Op, error) {
	var w wire
	if err := strict(b, &w); err != nil {
		return Op{}, fmt.Errorf("entry: %w", err)
	}
	for _, r := range actions {
		if r.name != w.Do {
			continue
		}
		a, err := r.decode(w.With)
		if err != nil {
			return Op{}, fmt.Errorf("entry %s: %w", w.Do, err)
		}
		return Op{By: w.By, Req: w.Req, Do: a}, nil
	}
	return Op{}, fmt.Errorf("entry %.40q: %w", w.Do, ErrUnknownOp)
}

// strict decodes one JSON value that has no unknown fields and nothing behind it.
func strict(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one value")
	}
	return nil
}

// Grants reports whether the entry may let a node confirm writes that could not before. The leader
// proposes it only when all nodes have applied State.Revoked, or have no lease.
func (op Op) Grants() bool {
	switch a := op.Do.(type) {
	case Admit:
		return !a.Slots.Empty()
	case Promote, AddSlots, Move:
		return true
	case Advance:
		return a.Phase == Done
	}
	return false
}

// Revokes reports whether the entry takes from a node the right to confirm writes.
func (op Op) Revokes() bool {
	switch a := op.Do.(type) {
	case Vacate, Decline, DelSlots, Close, Leave, Forget, Started:
		return true
	case Advance:
		return a.Phase == Closed
	}
	return false
}

// Before returns the entries that must be applied before the leader may propose op: those that
// close slots that op moves. They are revocations. It returns none if op may be proposed, or if it
// will be refused anyway.
func (s *State) Before(op Op) (list []Op) {
	m, ok := op.Do.(Move)
	to := s.mastered(m.To)
	if !ok || m.Closed || to == nil {
		return nil
	}
	for _, id := range s.ShardIDs() {
		sh := s.Shards[id]
		moves := m.Slots.Common(&sh.Slots)
		moves.Subtract(&sh.Closing)
		if id != to.ID && sh.Master != "" && !moves.Empty() {
			list = append(list, Op{Do: Close{Shard: id, Term: sh.Term, Slots: moves}})
		}
	}
	return list
}

// Loose returns the slots of a shard that are closed though no migration needs it. They belong to
// a Move that the leader is about to propose; if it is not, it opens them again (Open).
func (s *State) Loose(id ShardID) slot.Set {
	sh := s.Shards[id]
	if sh == nil {
		return slot.Set{}
	}
	loose := sh.Closing
	for _, m := range s.Migrations {
		if m.Phase == Closed && m.From == id {
			loose.Subtract(&m.Slots)
		}
	}
	return loose
}

// ShardIDs returns the ids of all shards in ascending order.
func (s *State) ShardIDs() []ShardID { return sortedKeys(s.Shards) }

// NodeIDs returns the ids of all nodes in ascending order.
func (s *State) NodeIDs() []NodeID { return sortedKeys(s.Nodes) }

func sortedKeys[K ~string, V any](m map[K]V) []K {
	list := make([]K, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}
