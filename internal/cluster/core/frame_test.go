package core

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"godwit/internal/cluster/topology"
	"godwit/internal/slot"
)

// samples are frames of all kinds.
func samples() []frame {
	self := about{node: "a", shard: "b", boot: 3, alone: true, epoch: 9, applied: 7,
		slots: slot.SetOf(slot.Range{First: 5, Last: 9})}
	self.about.Port, self.about.Name = 7000, "näme"
	return []frame{
		{kindRaft, "c", &raftBody{1, 2, []byte("data")}},
		{kindPing, "c", &ping{raft: 1, boot: 2, at: -3, applied: 4, wants: true,
			term: 6, silence: 7,
			local: Local{topology.Master, "s", 5, 6, true, true, true}}},
		{kindPong, "c", &pong{1, 2, -3, true, 4, 5}},
		{kindPropose, "c", &proposeBody{[]byte("{}")}},
		{kindResult, "c", &resultBody{1, "ERR no"}},
		{kindFailover, "c", &failoverBody{1, Takeover, 5}},
		{kindWho, "c", &whoBody{1}},
		{kindFacts, "c", &factsBody{1, self}},
		{kindJoin, "c", &joinBody{2, self}},
		{kindJoined, "c", &resultBody{2, ""}},
		{kindWelcome, "c", &welcomeBody{1, self.slots, 2}},
		{kindDecline, "c", &raftIDBody{1}},
		{kindStranger, "c", &raftIDBody{2}},
		{kindLeads, "c", &leadsBody{1, "a", "127.0.0.1", 17000}},
	}
}

func TestFrames(t *testing.T) {
	for _, f := range samples() {
		b := f.encode()
		got, err := decode(b)
		require.NoError(t, err)
		require.Equal(t, f, got)
		for i := range b {
			_, err := decode(b[:i])
			require.Error(t, err, "cut at %d of %x", i, b)
		}
		_, err = decode(append(bytes.Clone(b), 0))
		require.Error(t, err)
	}
	for k := range 256 {
		if k < int(kindRaft) || k > int(kindLeads) {
			_, err := decode([]byte{byte(k), 0})
			require.Error(t, err)
		}
	}
}

// FuzzFrame wants that what is decoded encodes to the same bytes. Texts of JSON may differ.
func FuzzFrame(f *testing.F) {
	for _, s := range samples() {
		f.Add(s.encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := decode(b)
		if err != nil {
			return
		}
		again, err := decode(got.encode())
		require.NoError(t, err)
		require.Equal(t, got, again)
	})
}
