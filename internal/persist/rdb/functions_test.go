package rdb

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDumpFunctions(t *testing.T) {
	for _, compress := range []bool{false, true} {
		for _, want := range [][][]byte{nil, {[]byte("#!lua name=a\n")},
			{[]byte("x"), []byte(strings.Repeat("y", 1000)), {}}} {
			e := Encoder{B: []byte("before"), Compress: compress}
			DumpFunctions(&e, want)
			got, err := RestoreFunctions(e.B[len("before"):], true)
			require.NoError(t, err)
			require.Len(t, got, len(want))
			for i := range want {
				require.True(t, bytes.Equal(want[i], got[i]), i)
			}
		}
	}
	// What redis-server 7.0.15 answers without libraries.
	e := Encoder{}
	DumpFunctions(&e, nil)
	require.Equal(t, "\n\x00]\x9b\\@\x0f\x7f\xa2\xda", string(e.B))
}

// signed puts version and checksum behind a payload's records.
func signed(records string) []byte {
	b := binary.LittleEndian.AppendUint16([]byte(records), Version)
	return binary.LittleEndian.AppendUint64(b, CRC64(0, b))
}

func TestRestoreFunctionsBroken(t *testing.T) {
	for _, c := range []struct {
		payload []byte
		want    error
	}{
		{nil, ErrPayload},
		{[]byte("123456789"), ErrPayload},
		{append(signed("\xf5\x01x"), 0), ErrPayload},
		{signed("\x00\x01x"), ErrNoFunction},
		{signed("\xf5\x01x\x00"), ErrNoFunction},
		{signed("\xf5"), ErrFormat},
		{signed("\xf5\x05x"), ErrFormat},
		{signed("\xf5\x81\xff\xff\xff\xff\xff\xff\xff\xffx"), ErrFormat},
	} {
		_, err := RestoreFunctions(c.payload, true)
		require.ErrorIs(t, err, c.want, "%q", c.payload)
	}
}

func FuzzRestoreFunctions(f *testing.F) {
	for _, s := range []string{"", "\xf5\x01x", "\xf5\x05abcde\xf5\x00",
		"\xf5\xc3\x04\x14\x01x\xe0\x0a\x00", "\x00\x01x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, records string) {
		sources, err := RestoreFunctions(signed(records), true)
		if err != nil {
			return
		}
		var e Encoder
		DumpFunctions(&e, sources)
		again, err := RestoreFunctions(e.B, true)
		require.NoError(t, err)
		require.Len(t, again, len(sources))
	})
}
