package rdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/object"
)

// TestEveryTypeHasAFile checks that what is described in memory has a form in files. Each half
// checks itself when it is registered.
func TestEveryTypeHasAFile(t *testing.T) {
	require.NotNil(t, TypeOf(object.String))
	for typ := range object.Type(object.NumTypes) {
		require.Equal(t, typ.String() != "", TypeOf(typ) != nil, "%d %s", typ, typ)
	}
}

// TestShapes skips values byte by byte: each try ends with errMore until the last byte is there,
// and a try goes on where the one before it ended.
func TestShapes(t *testing.T) {
	le := func(n uint64) string { return string(binary.LittleEndian.AppendUint64(nil, n)) }
	for _, c := range []struct{ shape, value string }{
		{"s", "\x03abc"},
		{"8*(lss)", le(7) + "\x02\x00\x01a\x01b\x05\xc0\x07\x02xy"},
		{"*(sd)", "\x02\x01a\xfe\x01b\x0212"},
		{"*(s)l", "\x00\x09"},
		// A stream with a group of two pending entries and two consumers, one of which has an
		// entry.
		{"*(ss)l*(s*(88l)*(s*(88)))", "\x01\x01n\x02lp\x02" +
			"\x01\x05group" + "\x02" + le(1) + le(1) + "\x01" + le(2) + le(2) + "\x01" +
			"\x02\x01c\x01" + le(1) + le(1) + "\x01d\x00"},
		{"*(*(*(*(l))))", "\x02\x01\x02\x00\x01\x03\x01\x02\x03\x01\x01\x01\x00"},
	} {
		sh := compileShape(c.shape)
		s := skimmer{start: 1, base: 100}
		b := append([]byte{0}, c.value...)
		at := int64(0)
		for n := 1; n < len(b); n++ {
			s.b, s.pos = b[:n], 1
			require.ErrorIs(t, s.shape(sh), errMore, "%s: %d bytes", c.shape, n)
			require.LessOrEqual(t, at, s.cp.pos)
			at = s.cp.pos
		}
		require.Greater(t, at, s.base, c.shape)
		s.b, s.pos = append(bytes.Clone(b), "more"...), 1
		require.NoError(t, s.shape(sh), c.shape)
		require.Equal(t, len(b), s.pos, c.shape)
		s.cp = checkpoint{}
		s.pos = 1
		require.NoError(t, s.shape(sh), c.shape)
		require.Equal(t, len(b), s.pos, c.shape)
	}
}

func TestShapesRefused(t *testing.T) {
	for _, bad := range []string{"x", "*", "*(", "*()", "(s)", "*(s", "s)", "*(*(*(*(*(s)))))"} {
		require.Panics(t, func() { compileShape(bad) }, bad)
	}
}

// TestShapeErrors checks that what can be no value is refused where it begins.
func TestShapeErrors(t *testing.T) {
	s := skimmer{b: []byte("\x00\x02\x01a\xc4"), start: 1, pos: 1, base: 100}
	var e *Error
	require.True(t, errors.As(s.shape(compileShape("*(s)")), &e))
	require.Equal(t, int64(104), e.Offset)
}
