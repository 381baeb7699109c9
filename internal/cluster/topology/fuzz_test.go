package topology

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
)

// TestDecodeRefuses reads snapshots that nobody has written.
func TestDecodeRefuses(t *testing.T) {
	good := string(newLog(t).Encode())
	for want, edit := range map[string][2]string{
		"version 2 is not 1":      {`"version":1`, `"version":2`},
		"unknown field":           {`"epoch"`, `"epok"`},
		"more than one value":     {"{", "{}{"},
		"Invalid or out of range": {`"slots":"0-9"`, `"slots":"0-16384"`},
		"have another owner":      {`"slots":"0-9"`, `"slots":"0-100"`},
		"invalid id":              {`"id":"aa`, `"id":"AA`},
		"not below":               {`"raft":2`, `"raft":1`},
		"no shard":                {`"shard":"bb`, `"shard":"b0`},
		"but not its own":         {`"closing":""`, `"closing":"5000"`},
	} {
		_, err := Decode([]byte(strings.Replace(good, edit[0], edit[1], 1)))
		require.ErrorContains(t, err, want)
	}
	_, err := Decode([]byte(good[:len(good)/2]))
	require.ErrorContains(t, err, "unexpected EOF")
	_, err = DecodeOp([]byte(`{"do":"explode","with":{}}`))
	require.ErrorIs(t, err, ErrUnknownOp)
	for _, text := range []string{"", "null", "{}", `{"do":"bump","with":{"node":7}}`,
		`{"do":"bump","with":{"node":"a","x":1}}`, `{"do":"bump","with":{}} 1`} {
		_, err := DecodeOp([]byte(text))
		require.Error(t, err, text)
	}
}

// FuzzDecode reads damaged snapshots: what is accepted keeps to the rules, and can be written, read
// and changed.
func FuzzDecode(f *testing.F) {
	g := generator{rng: testseed.Rand(f)}
	s := start(f)
	for index := uint64(2); index < 60; index++ {
		s.Apply(index, g.op(s))
		f.Add(s.Encode(), g.op(s).Encode())
	}
	f.Fuzz(func(t *testing.T, snapshot, entry []byte) {
		s, err := Decode(snapshot)
		if err != nil {
			return
		}
		require.NoError(t, s.Check())
		text := string(s.Encode())
		again, err := Decode([]byte(text))
		require.NoError(t, err)
		require.Equal(t, text, string(again.Encode()))
		NewView(s)
		s.Voters(s.NodeIDs(), func(NodeID) bool { return false })
		op, err := DecodeOp(entry)
		if err != nil {
			return
		}
		require.Equal(t, string(op.Encode()), string(op.Encode()))
		refusal := s.Apply(s.Index+1, op)
		require.NoError(t, s.Check(), "%s: %s", entry, refusal)
	})
}
