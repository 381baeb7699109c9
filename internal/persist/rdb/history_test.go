package rdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/listpack"
	"godwit/internal/object"
)

// zip makes a ziplist of entries that are encoded but for the length of the one before.
func zip(entries ...string) string {
	var body []byte
	before, last := 0, ziplistHeader
	for _, e := range entries {
		last = ziplistHeader + len(body)
		start := len(body)
		if before < 254 {
			body = append(body, byte(before))
		} else {
			body = binary.LittleEndian.AppendUint32(append(body, 0xfe), uint32(before))
		}
		body = append(body, e...)
		before = len(body) - start
	}
	b := binary.LittleEndian.AppendUint32(nil, uint32(ziplistHeader+len(body)+1))
	b = binary.LittleEndian.AppendUint32(b, uint32(last))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(entries)))
	return string(append(append(b, body...), 0xff))
}

// zstr returns a ziplist entry of a string.
func zstr(s string) string {
	switch n := len(s); {
	case n < 64:
		return string([]byte{byte(n)}) + s
	case n < 16384:
		return string([]byte{0x40 | byte(n>>8), byte(n)}) + s
	default:
		return string(binary.BigEndian.AppendUint32([]byte{0x80}, uint32(n))) + s
	}
}

// zints are ziplist entries of every integer encoding, and what they stand for.
var zints = []struct{ entry, text string }{
	{"\xf1", "0"}, {"\xfd", "12"}, {"\xfe\xff", "-1"}, {"\xfe\x0d", "13"},
	{"\xc0\x00\x80", "-32768"}, {"\xf0\xff\xff\x7f", "8388607"},
	{"\xf0\x00\x00\x80", "-8388608"}, {"\xd0\x00\x00\x00\x80", "-2147483648"},
	{"\xe0\xff\xff\xff\xff\xff\xff\xff\x7f", "9223372036854775807"},
}

// str returns a string as a file has it, uncompressed.
func str(s string) string {
	var e Encoder
	e.Len(uint64(len(s)))
	return string(e.B) + s
}

// rec returns a record under the key k.
func rec(op byte, value string) []byte { return []byte(string([]byte{op}) + "\x01k" + value) }

// lpack returns a listpack.
func lpack(elems ...string) string {
	s := listpack.NewSlice()
	for _, e := range elems {
		listpack.Append(s, []byte(e))
	}
	return string(s.B)
}

func double(f float64) string {
	return string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(f)))
}

func want(t object.Type, n int, elems ...string) string {
	return fmt.Sprint(t, " 0 ", n, strings.Join(elems, "\x00"))
}

// oldRecord is a record of the key k in a version of the format, and what it holds, as image tells.
type oldRecord struct {
	name    string
	version int
	record  []byte
	want    string
}

// oldLists returns strings and lists.
func oldLists() []oldRecord {
	long, huge := strings.Repeat("l", 300), strings.Repeat("h", 20000)
	ints, texts := []string{}, []string{}
	for _, z := range zints {
		ints, texts = append(ints, z.entry), append(texts, z.text)
	}
	ab := want(object.List, 2, "a", "b")
	return []oldRecord{
		{"string", 1, rec(typeString, "\x01v"), "string 0 v"},
		{"string of an integer", 1, rec(typeString, "\xc1\x00\x80"), "string 0 -32768"},
		{"compressed string", 1, rec(typeString, "\xc3\x05\x0a\x00a\xe0\x00\x00"),
			"string 0 aaaaaaaaaa"},
		{"string with a long length", 1, rec(typeString, "\x81\x00\x00\x00\x00\x00\x00\x00\x01v"),
			"string 0 v"},
		{"linked list", 1, rec(typeList, "\x02\x01a\x01b"), ab},
		{"list of compressed", 1, rec(typeList, "\x03\x01a\xc3\x05\x0a\x00a\xe0\x00\x00\xc0\x05"),
			want(object.List, 3, "a", "aaaaaaaaaa", "5")},
		{"list ziplist", 2, rec(typeListZiplist, str(zip(zstr("a"), zstr("b")))), ab},
		{"ziplist of integers", 2, rec(typeListZiplist, str(zip(ints...))),
			want(object.List, len(texts), texts...)},
		{"ziplist of long strings", 2,
			rec(typeListZiplist, str(zip(zstr(long), zstr("b"), zstr(huge), zstr("c")))),
			want(object.List, 4, long, "b", huge, "c")},
		{"quicklist", 7,
			rec(typeListQuicklist, "\x03"+str(zip(zstr("a")))+str(zip())+str(zip(zstr("b")))), ab},
		{"quicklist 2", 10,
			rec(typeListQuicklist2, "\x03\x02"+str(lpack("a"))+"\x01\x01x\x02"+str(lpack("b"))),
			want(object.List, 3, "a", "x", "b")},
		{"quicklist 2 with an empty node", 10,
			rec(typeListQuicklist2,
				"\x03\x02"+str(lpack("a"))+"\x02"+str(lpack())+"\x02"+str(lpack("b"))), ab},
		{"quicklist 2 of one node", 10, rec(typeListQuicklist2, "\x01\x02"+str(lpack("a", "b"))),
			ab},
		{"quicklist 2 of one plain node", 10, rec(typeListQuicklist2, "\x01\x01\x01x"),
			want(object.List, 1, "x")},
	}
}

// oldSets returns sets and sorted sets.
func oldSets() []oldRecord {
	return []oldRecord{
		{"set", 1, rec(typeSet, "\x02\x01a\xc0\x05"), want(object.Set, 2, "5", "a")},
		{"set of integers", 1, rec(typeSet, "\x02\xc0\x07\xc0\x05"), want(object.Set, 2, "5", "7")},
		{"intset", 2, rec(typeSetIntset, str("\x02\x00\x00\x00\x02\x00\x00\x00\x05\x00\x07\x00")),
			want(object.Set, 2, "5", "7")},
		{"set listpack", 11, rec(typeSetListpack, str(lpack("5", "a"))),
			want(object.Set, 2, "5", "a")},
		{"zset with text scores", 1,
			rec(typeZSet, "\x04\x01a\x031.5\x01b\xfe\x01c\xff\x01d\x03-10"),
			want(object.ZSet, 4, "c-inf", "d-10", "a1.5", "binf")},
		{"zset 2", 8, rec(typeZSet2, "\x02\x01b"+double(2)+"\x01a"+double(1.5)),
			want(object.ZSet, 2, "a1.5", "b2")},
		{"zset ziplist", 2,
			rec(typeZSetZiplist, str(zip(zstr("a"), zstr("1.5"), zstr("b"), "\xf3"))),
			want(object.ZSet, 2, "a1.5", "b2")},
		{"zset ziplist in disorder", 2,
			rec(typeZSetZiplist, str(zip(zstr("b"), "\xf3", zstr("a"), zstr("1.5")))),
			want(object.ZSet, 2, "a1.5", "b2")},
		{"zset listpack", 10, rec(typeZSetListpack, str(lpack("a", "1.5", "b", "2"))),
			want(object.ZSet, 2, "a1.5", "b2")},
	}
}

func oldHashes() []oldRecord {
	long := strings.Repeat("l", 300)
	return []oldRecord{
		{"hash", 1, rec(typeHash, "\x02\x01f\x01v\x01g\xc0\x05"),
			want(object.Hash, 2, `"f" "v" 0`, `"g" "5" 0`)},
		{"hash zipmap", 1, rec(typeHashZipmap, str("\x02\x01f\x01\x00v\x01g\x01\x022xx\xff")),
			want(object.Hash, 2, `"f" "v" 0`, `"g" "2" 0`)},
		{"zipmap with a long value", 1,
			rec(typeHashZipmap, str("\x01\x01f\xfe\x2c\x01\x00\x00\x00"+long+"\xff")),
			want(object.Hash, 1, `"f" "`+long+`" 0`)},
		{"hash ziplist", 4, rec(typeHashZiplist, str(zip(zstr("f"), zstr("v"), "\xf2", "\xf3"))),
			want(object.Hash, 2, `"1" "2" 0`, `"f" "v" 0`)},
		{"hash listpack", 10, rec(typeHashListpack, str(lpack("f", "v"))),
			want(object.Hash, 1, `"f" "v" 0`)},
		{"hash metadata", 12,
			rec(typeHashMetadata, le64(2000000)+"\x03\x01\x01f\x01v\x00\x01g\x01w\x05\x01h\x01x"),
			want(object.Hash, 3, `"f" "v" 2000000`, `"g" "w" 0`, `"h" "x" 2000004`)},
		{"hash metadata of 7.4 rc", 12,
			rec(typeHashMetadataRC, "\x02\x80\x00\x1e\x84\x80\x01f\x01v\x00\x01g\x01w"),
			want(object.Hash, 2, `"f" "v" 2000000`, `"g" "w" 0`)},
		{"hash listpack ex", 12,
			rec(typeHashListpackEx, le64(2000000)+str(lpack("f", "v", "2000000", "g", "w", "0"))),
			want(object.Hash, 2, `"f" "v" 2000000`, `"g" "w" 0`)},
		{"hash listpack ex in disorder", 12,
			rec(typeHashListpackEx, le64(2000000)+str(lpack("g", "w", "0", "f", "v", "2000000"))),
			want(object.Hash, 2, `"f" "v" 2000000`, `"g" "w" 0`)},
		{"hash listpack ex of 7.4 rc", 12, rec(typeHashListpackRC, str(lpack("f", "v", "2000000"))),
			want(object.Hash, 1, `"f" "v" 2000000`)},
	}
}

// TestHistory reads each record type that Redis ever wrote for these types.
func TestHistory(t *testing.T) {
	for _, tc := range slices.Concat(oldLists(), oldSets(), oldHashes()) {
		t.Run(tc.name, func(t *testing.T) {
			b := file(tc.version, tc.record)
			require.Equal(t, map[string]string{"k": tc.want}, loaded(t, b))
			// everything becomes large
			small := newKeyspace(t, object.Limits{ListMaxListpackSize: 1}, 1)
			require.NoError(t, load(small, bytes.NewReader(b), ReadOptions{}))
			require.Equal(t, map[string]string{"k": tc.want}, image(small.DB(0)))
			tamper(t, b)
		})
	}
}

func le64(n uint64) string { return string(binary.LittleEndian.AppendUint64(nil, n)) }

// tamper changes every byte of a file: whatever is accepted then can be read and dumped.
func tamper(t *testing.T, b []byte) {
	for i := HeaderLen; i < min(len(b), 600); i++ {
		for _, x := range []byte{1, 0x80, 0xff, 0x40} {
			bad := bytes.Clone(b)
			bad[i] ^= x
			ks := newKeyspace(t, redisLimits(), 1)
			if load(ks, bytes.NewReader(bad), ReadOptions{NoChecksum: true}) == nil {
				image(ks.DB(0))
				encodeAll(ks, false)
			}
		}
	}
}

// TestOpcodes reads what is no key.
func TestOpcodes(t *testing.T) {
	id := uint64(0)
	for _, c := range "MBbloom--" {
		id = id<<6 | uint64(
			strings.IndexRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
				c))
	}
	var e Encoder
	e.B = append(e.B, opModuleAux)
	e.Len(id<<10 | 3)
	e.B = append(e.B, "\x02\x01\x01\x05\x02\x06\x03abcd\x04abcdefgh\x05\x03xyz\x00"...)
	e.Aux("redis-ver", "255")
	e.SelectDB(3)
	e.Resize(100, 70000)
	e.B = append(e.B, opSlotInfo, 5, 1, 0)
	e.Function([]byte("#!lua name=x\n"))
	e.B = append(e.B, opExpire)
	e.B = binary.LittleEndian.AppendUint32(e.B, 2000)
	e.B = append(e.B, "\x00\x01k\x01v"...)
	databases, err := Skim(bytes.NewReader(file(12, e.B)), ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, 4, databases)
	r := NewReader(bytes.NewReader(file(12, e.B)), ReadOptions{})
	defer r.Close()
	next := func() *Record {
		rec, err := r.Next()
		require.NoError(t, err)
		return rec
	}
	got := next()
	require.Equal(t, KindModuleAux, got.Kind)
	require.Equal(t, "MBbloom--", got.Name)
	require.Equal(t, int64(HeaderLen), got.Offset)
	got = next()
	require.Equal(t, KindAux, got.Kind)
	require.Equal(t, "redis-ver 255", got.Name+" "+string(got.Text))
	got = next()
	require.Equal(t, KindSelectDB, got.Kind)
	require.Equal(t, 3, got.DB)
	got = next()
	require.Equal(t, KindResize, got.Kind)
	require.Equal(t, []uint64{3, 100, 70000}, []uint64{uint64(got.DB), got.Keys, got.Expires})
	got = next()
	require.Equal(t, KindSlot, got.Kind)
	require.Equal(t, []uint64{5, 1, 0}, []uint64{uint64(got.DB), got.Keys, got.Expires})
	got = next()
	require.Equal(t, KindFunction, got.Kind)
	require.Equal(t, "#!lua name=x\n", string(got.Text))
	got = next()
	require.Equal(t, KindKey, got.Kind)
	require.Equal(t, int64(2000_000), got.Meta.Deadline)
	require.Equal(t, 3, got.DB)
	require.Equal(t, KindEOF, next().Kind)
	_, err = r.Next()
	require.Equal(t, io.EOF, err)
}

// TestRefused reads files that must be refused, and checks what the errors say of them.
func TestRefused(t *testing.T) {
	for _, tc := range []struct{ name, file, want string }{
		{"not a file", "hello world",
			"offset 0: Wrong signature trying to load DB from file: this is text"},
		{"empty", "", "offset 0: Short read or OOM loading DB: the file ends here"},
		{"version", "REDIS0016", "offset 5: Can't handle RDB format version 16; 1 to 15 are read"},
		{"version of Valkey", "VALKEY081",
			"offset 6: Can't handle RDB format version 81 of Valkey; 80 is read"},
		{"version 0", "REDIS0000", "offset 5: Can't handle RDB format version 0"},
		{"no version", "REDIS00x1", "offset 5: \"00x1\""},
		{"array", string(file(14, rec(typeArray, "\x00\x00"))), `offset 9, key "k": an array`},
		{"module", string(
			file(10, rec(typeModule2, "\x81"+string(binary.BigEndian.AppendUint64(nil, 1<<10))))),
			`offset 9, key "k": a value of module type AAAAAAAAB`},
		{"functions of 7.0 rc", string(file(10, []byte{opFunctionRC})),
			"offset 9: a function in the form of a release candidate"},
		{"unknown type", string(file(10, rec(200, ""))), "offset 9: unknown record type 200"},
		{"unknown opcode", string(file(10, []byte{241})), "offset 9: unknown record type 241"},
		{"bad length", string(file(10, rec(typeString, "\x83"))),
			"offset 12: no string begins with 0x83"},
		{"checksum", string(file(10)[:10]) + "12345678", "offset 10: CRC error"},
		{"listpack", string(file(10, rec(typeHashListpack, str("\x07\x00\x00\x00\x01\x00\xff")))),
			`offset 12, key "k": listpack: corrupt`},
		{"odd hash", string(file(10, rec(typeHashListpack, str(lpack("a"))))),
			`offset 12, key "k": 1 elements in groups of 2`},
		{"duplicate fields",
			string(file(10, rec(typeHashListpack, str(lpack("1", "v", "1", "w"))))),
			`offset 12, key "k": duplicate elements`},
		{"node kind", string(file(10, rec(typeListQuicklist2, "\x02\x03\x01a\x01\x01a"))),
			`offset 13, key "k": a list node of unknown kind 3`},
	} {
		err := load(newKeyspace(t, redisLimits(), 1), strings.NewReader(tc.file), ReadOptions{})
		require.Error(t, err, tc.name)
		var where *Error
		require.True(t, errors.As(err, &where), tc.name)
		require.True(t, strings.HasPrefix(err.Error(), tc.want), "%s: %v", tc.name, err)
	}
}
