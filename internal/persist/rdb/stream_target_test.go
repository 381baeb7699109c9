package rdb

import (
	"encoding/binary"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/keyspace"
	"godwit/internal/object"
	"godwit/internal/stream"
)

// namedStreams makes streams that ask for different record types: an empty one, one with a group,
// one with producers, and one of which entries are NACKed.
func namedStreams(db *keyspace.DB) {
	lim := stream.Limits{NodeBytes: 4096, NodeEntries: 100}
	for _, key := range []string{"plain", "group", "producers", "nacked"} {
		s := db.CreateStream([]byte(key)).ChangingStream()
		s.Append(stream.ID{Ms: 1}, [][]byte{[]byte("f"), []byte("v")}, lim)
		s.Append(stream.ID{Ms: 2}, [][]byte{[]byte("f"), []byte("w")}, lim)
		if key == "plain" {
			continue
		}
		s.Delete(stream.ID{Ms: 1})
		g := s.CreateGroup([]byte("g"), stream.ID{Ms: 2}, 2)
		c := g.CreateConsumer([]byte("c"), 77)
		g.Set(stream.Pending{ID: stream.ID{Ms: 1}, Owner: c, Time: 5, Count: 6})
		switch key {
		case "producers":
			s.UseIDMP(100, 100)
			s.Note([]byte("p"), []byte("i"), stream.ID{Ms: 2}, 0)
		case "nacked":
			g.Nack(stream.ID{Ms: 2}, 3)
		}
	}
}

// TestStreamTargets writes streams for each version and checks what is left of them.
func TestStreamTargets(t *testing.T) {
	for target := Auto; target <= ValkeyOwn; target++ {
		for _, whole := range []bool{false, true} {
			ks := newKeyspace(t, redisLimits(), 1)
			namedStreams(ks.DB(0))
			want := image(ks.DB(0))
			e := Encoder{Target: target, Whole: whole}
			e.Header(target.Version())
			for _, key := range []string{"plain", "group", "producers", "nacked"} {
				e.Record(ks.Heap, ks.DB(0).Peek([]byte(key)))
			}
			require.Equal(t, StreamTallies{All: Tally{4, []byte("plain")},
				Groups: Tally{3, []byte("group")}, Producers: Tally{1, []byte("producers")},
				Nacked: Tally{1, []byte("nacked")}}, e.Streams)
			e.EOF()
			b := binary.LittleEndian.AppendUint64(e.B, 0)
			got := loaded(t, b)
			switch {
			case whole || target == Auto:
				require.Equal(t, VersionNacked, e.Version)
			default:
				require.Zero(t, e.Version)
				for key := range want {
					want[key] = reduced(want[key], target)
				}
			}
			require.Equal(t, want, got, target)
		}
	}
}

// reduced returns the image of one of namedStreams as a target keeps it.
func reduced(image string, target Target) string {
	i := strings.Index(image, "{Duration")
	if i >= 0 {
		image = image[:i]
	}
	if strings.Contains(image, "nacked") {
		image = strings.ReplaceAll(image, "nacked 2-0\n", "")
		image = strings.Replace(image, "consumer",
			"consumer \"\" seen 0 active -1\n2-0\nconsumer", 1)
	}
	if target <= Redis70 {
		image = strings.ReplaceAll(image, "seen 0 active -1", "seen 0 active 0")
		image = strings.ReplaceAll(image, "active -1", "active 77")
	}
	if target == Redis5 && strings.Contains(image, "group") {
		image = strings.ReplaceAll(image, "deleted 1-0 added 2", "deleted 0-0 added 1")
		image = strings.ReplaceAll(image, "read 2", "read 1")
	}
	return image
}

// TestStreamDumps dumps streams for each version.
func TestStreamDumps(t *testing.T) {
	ks := newKeyspace(t, redisLimits(), 1)
	db := ks.DB(0)
	namedStreams(db)
	for target, want := range map[Target][4][2]int{
		Auto:      {{19, 10}, {21, 11}, {26, 13}, {27, 14}},
		Redis5:    {{15, 9}, {15, 9}, {26, 13}, {27, 14}},
		Redis70:   {{19, 10}, {19, 10}, {26, 13}, {27, 14}},
		Redis72:   {{21, 11}, {21, 11}, {26, 13}, {27, 14}},
		Redis74:   {{21, 12}, {21, 12}, {26, 13}, {27, 14}},
		ValkeyOwn: {{21, 80}, {21, 80}, {26, 13}, {27, 14}},
	} {
		for i, key := range []string{"plain", "group", "producers", "nacked"} {
			e := Encoder{Target: target}
			Dump(&e, ks.Heap, db.Peek([]byte(key)))
			version := binary.LittleEndian.Uint16(e.B[len(e.B)-footerLen:])
			require.Equal(t, want[i], [2]int{int(e.B[0]), int(version)}, "%d %s", target, key)
			require.Zero(t, e.Version)
			require.Equal(t, target, e.Target)
			back := newKeyspace(t, redisLimits(), 1)
			v, err := Restore(e.B, ReadOptions{})
			require.NoError(t, err)
			require.NoError(t, Insert(back.DB(0), []byte(key), &v, NoAccess()))
			was := image(db)[key]
			if i < 2 && target.Fixed() {
				was = reduced(was, target)
			}
			require.Equal(t, was, image(back.DB(0))[key])
		}
	}
}

// TestSavedStreamLen compares with what is written without compression.
func TestSavedStreamLen(t *testing.T) {
	seed, rng := newSeed(t)
	ks := newKeyspace(t, redisLimits(), seed)
	for range 50 {
		db := ks.DB(0)
		db.Flush(false)
		fillStream(db, []byte("k"), rng, true)
		x := new(object.Edit)
		x.Reset(ks.Heap, db.Peek([]byte("k")), nil)
		var e Encoder
		e.Value(ks.Heap, x.E)
		require.Equal(t, len(e.B)-1, SavedLen(x))
	}
}

// TestDumpCopiesProducersOnce checks that DUMP asks for the list of producers once.
func TestDumpCopiesProducersOnce(t *testing.T) {
	db := newKeyspace(t, redisLimits(), 1).DB(0)
	s := db.CreateStream([]byte("k")).ChangingStream()
	s.UseIDMP(100, 100)
	const n = 5000
	for i := range n {
		id := stream.ID{Ms: uint64(i + 1)}
		s.Append(id, [][]byte{[]byte("f"), []byte("v")}, stream.Limits{NodeEntries: 100})
		s.Note([]byte(strconv.Itoa(i)), []byte("iid"), id, 0)
	}
	e := Encoder{}
	dump := func() { Dump(&e, db.Heap(), db.Peek([]byte("k"))) }
	dump() // the buffer grows
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e.B = e.B[:0]
	dump()
	runtime.ReadMemStats(&after)
	list := n * uint64(reflect.TypeFor[stream.Producer]().Size())
	require.Less(t, after.TotalAlloc-before.TotalAlloc, 2*list)
}
