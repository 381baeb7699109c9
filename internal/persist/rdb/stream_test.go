package rdb

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/stream"
)

// streamParts are the fields of a record of a stream, in their order. Each can be replaced.
type streamParts []string

func raw(ms, seq uint64) string { return string(stream.ID{Ms: ms, Seq: seq}.AppendBytes(nil)) }

// nodeOf returns a node with an entry of a field.
func nodeOf(ms, seq uint64, value string) []string {
	return []string{str(raw(ms, seq)),
		str(lpack("1", "0", "1", "f", "0", "2", "0", "0", value, "4"))}
}

// partsOf returns a stream of a record type with all that it can have: entries 1-1 and 2-2 of
// seven, two groups, each with 1-1 and 3-3 pending.
func partsOf(op byte) streamParts {
	p := streamParts{"\x02"}
	p = append(p, nodeOf(1, 1, "v")...)
	p = append(p, nodeOf(2, 2, "5")...)
	p = append(p, "\x02", "\x09\x09") // entries, last ID
	if op >= typeStream2 {
		p = append(p, "\x01\x01", "\x03\x03", "\x07") // first, deleted, added
	}
	p = append(p, "\x02")
	for _, name := range []string{"\x01g", "\x01h"} {
		p = append(p, name, "\x02\x00")
		if op >= typeStream2 {
			p = append(p, "\x05")
		}
		p = append(p, "\x02", raw(1, 1), le64(1000), "\x02", raw(3, 3), le64(2000), "\x03")
		p = append(p, "\x02")
		for i, owned := range []string{"\x01" + raw(1, 1), "\x01" + raw(3, 3)} {
			p = append(p, string([]byte{1, byte('a' + i)}), le64(3000))
			if op >= typeStream3 {
				p = append(p, le64(1<<64-1))
			}
			if op >= typeStream5 && i == 1 {
				owned = "\x00"
			}
			p = append(p, owned[:1])
			if len(owned) > 1 {
				p = append(p, owned[1:])
			}
		}
		if op >= typeStream5 {
			p = append(p, "\x01", raw(3, 3))
		}
	}
	if op >= typeStream4 {
		p = append(p, "\x40\xc8", "\x03", "\x01", "\x03pid", "\x02", "\x01i", "\x01\x01", "\x01j",
			"\x02\x02", "\x06", "\x04")
	}
	return p
}

func streamOf(op byte) string { return strings.Join(partsOf(op), "") }

// streamOps are the record types of streams.
var streamOps = []byte{typeStream, typeStream2, typeStream3, typeStream4, typeStream5}

// restoredStream returns what a payload of a record type makes.
func restoredStream(t *testing.T, op byte, value string) *stream.Stream {
	t.Helper()
	v, err := Restore(payload(VersionMax, string([]byte{op})+value), ReadOptions{})
	require.NoError(t, err)
	ks := newKeyspace(t, redisLimits(), 1)
	require.NoError(t, Insert(ks.DB(0), []byte("k"), &v, NoAccess()))
	return streamAt(t, ks.DB(0), "k")
}

// TestStreamRecords reads each record type.
func TestStreamRecords(t *testing.T) {
	for _, op := range streamOps {
		s := restoredStream(t, op, streamOf(op))
		require.Equal(t, 2, s.Len())
		last, deleted, added, read := stream.ID{Ms: 9, Seq: 9}, stream.ID{Ms: 3, Seq: 3}, 7, 5
		active, owner := int64(-1), `"b" at 2000`
		switch op {
		case typeStream:
			deleted, added, read, active = stream.ID{}, 2, -1, 3000
		case typeStream2:
			active = 3000
		case typeStream5:
			owner = `"" at 0`
		}
		want := fmt.Sprintf("last %v deleted %v added %d\n1-1 \"f\" \"v\"\n2-2 \"f\" \"5\"\n", last,
			deleted, added)
		for _, name := range []string{"g", "h"} {
			want += fmt.Sprintf("group %q last 2-0 read %d\n1-1 \"a\" at 1000 times 2\n"+
				"3-3 %s times 3\nconsumer \"a\" seen 3000 active %d\n1-1\n"+
				"consumer \"b\" seen 3000 active %d\n", name, read, owner, active, active)
			if op == typeStream5 {
				want += "nacked 3-3\n"
			} else {
				want += "3-3\n"
			}
		}
		if op >= typeStream4 {
			want += "{Duration:200 MaxSize:3 Added:6 Duplicate:4} [{pid [{i 1-1} {j 2-2}]}]\n"
		}
		require.Equal(t, want, streamText(s), op)
	}
}

// TestStreamGuess reads groups of 15, which does not say what they have read.
func TestStreamGuess(t *testing.T) {
	p := partsOf(typeStream)
	for last, want := range map[string]int64{"\x00\x00": 0, "\x01\x01": 1, "\x02\x01": -1,
		"\x09\x09": 2, "\x0a\x00": -1} {
		q := append(streamParts{}, p...)
		q[9] = last
		s := restoredStream(t, typeStream, strings.Join(q, ""))
		require.Equal(t, want, s.Groups()[0].Read, "%q", last)
	}
	s := restoredStream(t, typeStream, "\x00\x00\x05\x05\x01\x01g\x01\x01\x00\x00")
	require.Zero(t, s.Groups()[0].Read)
	require.Equal(t, stream.ID{Ms: 5, Seq: 5}, s.LastID)
}
