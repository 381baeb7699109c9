package rdb

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/keyspace"
	"godwit/internal/stream"
)

// TestStreamsRefused reads what is no stream. The number is that of the field that is replaced.
func TestStreamsRefused(t *testing.T) {
	const big = "\x81\x80\x00\x00\x00\x00\x00\x00\x00" // 1<<63
	node := func(elems ...string) string { return str(lpack(elems...)) }
	for _, tc := range []struct {
		op    byte
		field int
		value string
		want  string
	}{
		{typeStream3, 0, "\x81\x7f\xff\xff\xff\xff\xff\xff\xff", "9223372036854775807 elements in"},
		{typeStream3, 1, "\x01a", "a node's ID of 1 bytes"},
		{typeStream3, 2, "\x03abc", "listpack: corrupt"},
		{typeStream3, 2, node(), "a node of a stream is broken"},
		{typeStream3, 2, node("2", "0", "1", "f", "0", "2", "0", "0", "v", "4"), "is broken"},
		{typeStream3, 2, node("1", "0", "1", "f", "0", "2", "0", "0", "v", "5"), "is broken"},
		{typeStream3, 2, node("1", "0", "-1", "f", "0", "2", "0", "0", "v", "4"), "is broken"},
		{typeStream3, 2, node("1", "0", "1", "f", "0", "2", "0", "0"), "is broken"},
		{typeStream3, 2, node("1", "0", "1", "f", "0", "2", "1", "1", "v", "4"), "in ascending"},
		{typeStream3, 5, "\x03", "2 entries in the nodes of a stream of 3"},
		{typeStream3, 6, "\x01\x01", "the last ID is 1-1, but 3-3 was deleted"},
		{typeStream, 6, "\x01\x01", "in ascending order"},
		{typeStream3, 8, "\x0a\x00", "the last ID is 9-9, but 10-0 was deleted"},
		{typeStream3, 9, "\x01", "entries ever added: 1"},
		{typeStream3, 11, "\x01h", "a name or an ID is there twice"},
		{typeStream3, 15, raw(3, 3), "a name or an ID is there twice"},
		{typeStream3, 15, raw(1, 2), "a consumer's entry is not pending"},
		{typeStream3, 16, le64(1 << 63), "a time of -9223372036854775808 ms"},
		{typeStream3, 22, "\x01b", "a name or an ID is there twice"},
		{typeStream3, 23, le64(1<<64 - 1), "a time of -1 ms"},
		{typeStream3, 24, le64(1<<64 - 2), "a time of -2 ms"},
		{typeStream3, 26, raw(3, 3), "has no consumer, or several"},
		{typeStream3, 30, "\x00", "has no consumer"},
		{typeStream5, 31, "\x00", "a pending entry has no consumer"},
		{typeStream5, 32, raw(1, 1), "has no consumer, or several"},
		{typeStream5, 32, raw(7, 1), "is not pending"},
		{typeStream5, 55, "\x00", "seconds that producers are remembered: 0"},
		{typeStream5, 55, "\x80\x00\x01\x51\x81", "seconds that producers are remembered: 86401"},
		{typeStream5, 56, "\x00", "records kept of a producer: 0"},
		{typeStream5, 56, "\x01", "2 records of a producer"},
		{typeStream5, 56, "\x67\x11", "records kept of a producer: 10001"},
		{typeStream5, 58, "\x00", "a producer's ID is empty"},
		{typeStream5, 60, "\x00", "an idempotent ID is empty"},
		{typeStream5, 60, "\x01j", "a name or an ID is there twice"},
		{typeStream5, 64, big, "records ever added: 9223372036854775808"},
		{typeStream5, 65, big, "entries not added again: 9223372036854775808"},
	} {
		p := append(streamParts{}, partsOf(tc.op)...)
		name := fmt.Sprintf("%d: %q in place of %q", tc.op, tc.value, p[tc.field])
		p[tc.field] = tc.value
		_, err := Restore(payload(VersionMax, string([]byte{tc.op})+strings.Join(p, "")),
			ReadOptions{})
		require.ErrorIs(t, err, ErrFormat, name)
		require.ErrorContains(t, err, tc.want, name)
	}
}

// hostile are values for fields of any kind.
var hostile = []string{"", "\x00", "\x01", "\x02", "\x3f", "\x7f\xff", "\x80\xff\xff\xff\xff",
	"\x81\x7f\xff\xff\xff\xff\xff\xff\xff", "\x81\xff\xff\xff\xff\xff\xff\xff\xff", "\xc0\x05",
	"\xc3\x05\x0a\x00a\xe0\x00\x00", "\x82", "\xff", le64(0), le64(1 << 63), le64(1<<64 - 1),
	raw(0, 0), raw(1, 1), raw(3, 3), raw(1<<64-1, 1<<64-1)}

// TestStreamFields changes each field of each record type: the value is refused, or it is a sound
// stream that can be written and read again.
func TestStreamFields(t *testing.T) {
	seed, rng := newSeed(t)
	db := newKeyspace(t, redisLimits(), seed).DB(0)
	for _, op := range streamOps {
		parts := partsOf(op)
		for i := range parts {
			for _, value := range mutations(parts, i, rng) {
				p := append(streamParts{}, parts...)
				p[i] = value
				b := string([]byte{op}) + strings.Join(p, "")
				soundOrRefused(t, db, b)
			}
		}
	}
}

// soundOrRefused restores a stream. If that can be done it checks the stream, and that it can be
// written and read again.
func soundOrRefused(t *testing.T, db *keyspace.DB, b string) (sound bool) {
	v, err := Restore(payload(VersionMax, b), ReadOptions{})
	if err != nil {
		require.ErrorIs(t, err, ErrFormat)
		return false
	}
	require.NoError(t, Insert(db, []byte("k"), &v, NoAccess()))
	var e Encoder
	Dump(&e, db.Heap(), db.Peek([]byte("k")))
	again, err := Restore(e.B, ReadOptions{})
	require.NoError(t, err)
	require.NoError(t, Insert(db, []byte("l"), &again, NoAccess()))
	require.Equal(t, streamText(streamAt(t, db, "k")), streamText(streamAt(t, db, "l")))
	db.Delete([]byte("k"))
	db.Delete([]byte("l"))
	return true
}

// mutations returns what to put in the place of a field.
func mutations(parts streamParts, i int, rng *rand.Rand) []string {
	out := append([]string{}, hostile...)
	field := parts[i]
	for range 20 {
		b := []byte(field)
		if len(b) > 0 {
			b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
		}
		out = append(out, string(b), field[:rng.IntN(len(field)+1)],
			parts[rng.IntN(len(parts))], field+parts[rng.IntN(len(parts))])
	}
	if len(field) > stream.IDLen+1 { // a node
		for range 200 {
			b := []byte(field)
			b[1+rng.IntN(len(b)-1)] = byte(rng.Uint32())
			out = append(out, string(b))
		}
	}
	return out
}

// TestStreamNodes changes elements of nodes.
func TestStreamNodes(t *testing.T) {
	seed, rng := newSeed(t)
	db := newKeyspace(t, redisLimits(), seed).DB(0)
	elems := strings.Fields("3 1 2 f g 0 2 0 0 v w 5 3 1 1 v w 5 0 1 2 1 f v 6 2 7 -1 v w 5")
	numbers := []string{"0", "1", "2", "3", "-1", "5", "100000", "9223372036854775807",
		"-9223372036854775808", "x", ""}
	sound := 0
	for range 2000 {
		e := append([]string{}, elems...)
		for range 1 + rng.IntN(3) {
			switch i := rng.IntN(len(e)); rng.IntN(3) {
			case 0:
				e = append(e[:i], e[i+1:]...)
			case 1:
				e = append(e[:i], append([]string{numbers[rng.IntN(len(numbers))]}, e[i:]...)...)
			default:
				e[i] = numbers[rng.IntN(len(numbers))]
			}
		}
		lp := str(lpack(e...))
		for n := range byte(5) {
			if soundOrRefused(t, db, "\x0f\x01"+str(raw(5, 5))+lp+string([]byte{n})+
				"\x81"+le64(1<<64-1)+"\x09\x00") {
				sound++
			}
		}
	}
	require.NotZero(t, sound)
	require.Equal(t, 3, restoredStream(t, typeStream,
		"\x01"+str(raw(5, 5))+str(lpack(elems...))+"\x03\x3f\x00\x00").Len())
}

// TestStreamSeveral reads streams with groups, consumers and producers of the same name, and more
// that only several fields together show.
func TestStreamSeveral(t *testing.T) {
	empty := "\x00\x00\x05\x05\x00\x00\x00\x00\x00"
	for value, want := range map[string]string{
		empty + "\x02\x01g\x01\x01\x00\x00\x00\x01g\x01\x01\x00\x00\x00":       "there twice",
		empty + "\x01\x01g\x01\x01\x00\x01" + raw(1, 1) + le64(0) + "\x01\x00": "has no consumer",
		empty + "\x01\x01g\x01\x01\x00\x81\x00\x00\x00\x01\x00\x00\x00\x00":    "4294967296 elem",
	} {
		_, err := Restore(payload(VersionMax, "\x15"+value), ReadOptions{})
		require.ErrorContains(t, err, want)
	}
	s := restoredStream(t, typeStream3, empty+"\x00")
	require.Equal(t, stream.ID{Ms: 5, Seq: 5}, s.LastID)
	require.Zero(t, s.Len())
	// Nothing is kept of producers that are what they are in every stream of Redis 8.6.
	s = restoredStream(t, typeStream4, empty+"\x00\x40\x64\x40\x64\x00\x00\x00")
	require.Nil(t, s.IDMP())
	// XDEL and XTRIM MINID leave a node without entries.
	s = restoredStream(t, typeStream3, "\x01"+str(raw(1, 0))+
		str(lpack("0", "1", "1", "f", "0", "3", "0", "0", "v", "4"))+"\x00\x01\x00\x00\x00"+
		"\x01\x00\x01\x00")
	require.Zero(t, s.Len())
	// 0-0 is no entry's ID: no command could add it again.
	_, err := Restore(payload(VersionMax, "\x0f\x01"+str(raw(0, 0))+
		str(lpack("1", "0", "1", "f", "0", "2", "0", "0", "v", "4"))+"\x01\x00\x00\x00"),
		ReadOptions{})
	require.ErrorContains(t, err, "in ascending order")
	// A group of an older server may have read more than was added.
	s = restoredStream(t, typeStream3, empty+"\x01\x01g\x01\x01\x7f\xff\x00\x00")
	require.Zero(t, s.Groups()[0].Read)
}
