package topology

import (
	"encoding/json"
	"errors"
	"fmt"
)

// snapshotVersion is that of the format of snapshots.
const snapshotVersion = 1

// snapshot is what Encode writes.
type snapshot struct {
	Version int    `json:"version"`
	State   *State `json:"state"`
}

// Encode returns the state as a snapshot. States that are equal have equal snapshots.
func (s *State) Encode() []byte {
	b, err := json.Marshal(snapshot{snapshotVersion, s})
	if err != nil {
		panic(fmt.Sprintf("topology: state cannot be encoded: %v", err))
	}
	return b
}

// Decode reads a snapshot. It returns an error for one that is damaged, of another version, or
// that breaks a rule of Check.
func Decode(b []byte) (*State, error) {
	var snap struct {
		Version int             `json:"version"`
		State   json.RawMessage `json:"state"`
	}
	if err := strict(b, &snap); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	if snap.Version != snapshotVersion {
		return nil, fmt.Errorf("snapshot: version %d is not %d", snap.Version, snapshotVersion)
	}
	s := &State{}
	if err := strict(snap.State, s); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	if s.Nodes == nil || s.Shards == nil {
		if len(s.Nodes)+len(s.Shards) > 0 {
			return nil, errors.New("snapshot: nodes or shards are missing")
		}
		return s, nil
	}
	if s.Marks == nil {
		s.Marks = map[int]*Mark{}
	}
	if s.Forgotten == nil {
		s.Forgotten = map[NodeID]uint64{}
	}
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	return s, nil
}
