package rdb

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"godwit/internal/object"
)

// valkeyFile is file under Valkey's head.
func valkeyFile(records ...[]byte) []byte {
	b := file(10, records...)
	return append([]byte("VALKEY080"), b[HeaderLen:]...)
}

// define returns the definition of a template with raw fields.
func define(id byte, fields ...string) []byte {
	b := []byte{opTemplate, id, byte(len(fields))}
	for _, f := range fields {
		b = append(b, str(f)...)
	}
	return b
}

// templateRecords are records of hashes with templates, and what the key k holds then.
func templateRecords() []oldRecord {
	ab := want(object.Hash, 2, `"a" "1" 0`, `"bb" "two" 0`)
	raw := "\x01\x02\x01a\x02bb"
	long := strings.Repeat("l", 300)
	defined := func(r []byte) []byte { return append(define(7, "a", "bb"), r...) }
	return []oldRecord{
		{"listpack with its template", 15,
			rec(typeTemplateLP, "\x00"+str(lpack("a", "bb"))+str(lpack("0", "1", "two"))), ab},
		{"listpack with raw fields", 15, rec(typeTemplateLP, raw+str(lpack("0", "1", "two"))), ab},
		{"listpack", 15, defined(rec(typeTemplateLPRef, str(lpack("7", "1", "two")))), ab},
		{"values with their template", 15, rec(typeTemplateArray, raw+"\xc0\x01\x03two"), ab},
		{"values with a listpack of fields", 15,
			rec(typeTemplateArray, "\x00"+str(lpack("a", "bb"))+"\xc0\x01\x03two"), ab},
		{"values", 15, defined(rec(typeTemplateArrRef, "\x07\xc0\x01\x03two")), ab},
		{"fields that spell integers", 15,
			rec(typeTemplateLP, "\x00"+str(lpack("5", "12"))+str(lpack("0", "1", "2"))),
			want(object.Hash, 2, `"12" "2" 0`, `"5" "1" 0`)},
		{"compressed fields and values", 15,
			append(define(1, "a"), rec(typeTemplateArrRef, "\x01\xc3\x05\x0a\x00a\xe0\x00\x00")...),
			want(object.Hash, 1, `"a" "aaaaaaaaaa" 0`)},
		{"long field", 15,
			append(define(1, "a", long), rec(typeTemplateArrRef, "\x01\x01v\x01w")...),
			want(object.Hash, 2, `"a" "v" 0`, `"`+long+`" "w" 0`)},
	}
}

// TestTemplates reads the hashes of Redis 8.10.
func TestTemplates(t *testing.T) {
	for _, tc := range templateRecords() {
		t.Run(tc.name, func(t *testing.T) {
			b := file(tc.version, tc.record)
			require.Equal(t, map[string]string{"k": tc.want}, loaded(t, b))
			for _, r := range []io.Reader{bytes.NewReader(b),
				iotest.OneByteReader(bytes.NewReader(b))} {
				large := newKeyspace(t, object.Limits{ListMaxListpackSize: 1}, 1)
				require.NoError(t, load(large, r, ReadOptions{Workers: 2}))
				require.Equal(t, map[string]string{"k": tc.want}, image(large.DB(0)))
			}
			tamper(t, b)
		})
	}
}

func TestTemplatesRefused(t *testing.T) {
	for _, tc := range []struct{ name, record, want string }{
		{"no fields", string(define(1)), "offset 10: a template without fields"},
		{"disorder", string(define(1, "bb", "a")),
			"offset 10: the fields of a template are in disorder"},
		{"twice a field", string(define(1, "a", "a")),
			"offset 10: the fields of a template are in disorder"},
		{"twice a number", string(define(1, "a")) + string(define(1, "b")),
			"offset 15: two templates have the number 1"},
		{"unknown number", string(rec(typeTemplateArrRef, "\x05\x01v")),
			`offset 12, key "k": no template has the number 5`},
		{"unknown number in a listpack", string(rec(typeTemplateLPRef, str(lpack("5", "v")))),
			`offset 12, key "k": no template has the number 5`},
		{"defined later", string(rec(typeTemplateLPRef, str(lpack("1", "v")))) +
			string(define(1, "a")), `offset 12, key "k": no template has the number 1`},
		{"number of values", string(define(1, "a")) +
			string(rec(typeTemplateLPRef, str(lpack("1", "v", "w")))),
			`offset 17, key "k": 2 values for 1 fields`},
		{"no number", string(rec(typeTemplateLPRef, str(lpack()))),
			`offset 12, key "k": a hash without the number of its template`},
		{"number that is none", string(rec(typeTemplateLPRef, str(lpack("x", "v")))),
			`offset 12, key "k": "x" is no template's number`},
		{"form", string(rec(typeTemplateArray, "\x02\x01a\x01v")),
			`offset 12, key "k": fields in the unknown form 2`},
	} {
		err := load(newKeyspace(t, redisLimits(), 1), bytes.NewReader(file(15, []byte(tc.record))),
			ReadOptions{})
		require.ErrorContains(t, err, tc.want, tc.name)
	}
	// A payload has no templates to refer to.
	for _, value := range []string{"\x1e" + str(lpack("5", "1", "2")), "\x20\x05\xc0\x01\xc0\x02"} {
		_, err := Restore(payload(15, value), ReadOptions{})
		require.ErrorIs(t, err, ErrFormat)
		require.ErrorContains(t, err, "outside of a file")
	}
}

// surveyed returns what a survey says of a file's keys, and how it ends.
func surveyed(src io.Reader) (list []string, end error) {
	r := NewReader(src, ReadOptions{Survey: true})
	defer r.Close()
	for {
		rec, err := r.Next()
		if err != nil {
			return list, err
		}
		switch rec.Kind {
		case KindRefused:
			list = append(list, fmt.Sprintf("%d %s: %s", rec.DB, rec.Key, rec.Name))
		case KindDamaged:
			list = append(list, fmt.Sprintf("%d %s! %s", rec.DB, rec.Key, rec.Name))
		case KindKey:
			list = append(list, fmt.Sprintf("%d %s", rec.DB, rec.Key))
		}
	}
}

// surveyFile has one record of every type that is not read, a damaged one, and sound ones between.
func surveyFile() ([]byte, []string) {
	var records [][]byte
	var want []string
	add := func(r []byte, say string) {
		records = append(records, r, []byte("\x00\x01s\x01v"))
		want = append(want, say, "0 s")
	}
	element := "\x00\x01" + strings.Repeat("i", 8) + "\x05\x02" + strings.Repeat("f", 8) +
		"\x06\x03\x02ab\x07\x00\x03abc"
	add(rec(typeArray, "\x04\x00"+element), "0 k: array")
	add(rec(typeArray, "\x04\x01\x08"+element), "0 k: array")
	add(rec(typeArray, "\x00\x00"), "0 k: array")
	for _, op := range streamOps {
		add(rec(op, streamOf(op)), "0 k")
	}
	add(rec(typeLimiter, "\x40\xff"), "0 k: rate limiter")
	module := string(idBytes("ReJSON-RL", 3)) + "\x05\x02{}\x02\x07\x03abcd\x00"
	add(rec(typeModule2, module), "0 k: value of module type ReJSON-RL")
	add(rec(typeHashListpack, str(lpack("a"))), "0 k! 1 elements in groups of 2")
	meta := func(class uint32) []byte {
		b := append([]byte{opKeyMeta, 1}, byte(class), byte(class>>8), byte(class>>16),
			byte(class>>24))
		return append(append(b, "\x02\x05\x00"...), rec(typeString, "\x01v")...)
	}
	add(meta(1<<26|2<<20|3<<14|4<<8), "0 k: key with metadata of the module class BCDE")
	add(meta(1<<26|2<<20|3<<14|4<<8|metaIgnorable), "0 k")
	return file(15, records...), want
}

func TestSurvey(t *testing.T) {
	b, want := surveyFile()
	for _, r := range []io.Reader{bytes.NewReader(b), iotest.OneByteReader(bytes.NewReader(b))} {
		list, err := surveyed(r)
		require.Equal(t, io.EOF, err)
		require.Equal(t, want, list)
	}
	// A load is refused at the first of them.
	var where *Error
	require.ErrorAs(t, load(newKeyspace(t, redisLimits(), 1), bytes.NewReader(b), ReadOptions{}),
		&where)
	require.Equal(t, `offset 9, key "k": an array, which is not supported`, where.Error())
	require.Equal(t, "array", where.Refused)
	// What is from before Redis 4.0 has no end that can be found.
	list, err := surveyed(bytes.NewReader(file(7, rec(typeModule, "whatever"))))
	require.Empty(t, list)
	require.ErrorContains(t, err, `key "k": nothing tells where this value ends`)
}

// TestKeyMeta restores payloads of keys with metadata.
func TestKeyMeta(t *testing.T) {
	class := func(flags byte) string {
		return "\xf3\x01" + string([]byte{flags, 0, 0, 4}) + "\x02\x05\x00"
	}
	v, err := Restore(payload(13, class(metaIgnorable)+"\x00\x01a"), ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, "a", string(v.b))
	_, err = Restore(payload(13, class(0)+"\x00\x01a"), ReadOptions{})
	require.ErrorContains(t, err, "a key with metadata of the module class BAAA")
	for _, value := range []string{"\xf3\x08", "\xf3", "\xf3\x01\x00\x00",
		"\xf3\x01\x00\x00\x00\x00"} {
		_, err = Restore(payload(13, value), ReadOptions{})
		require.ErrorIs(t, err, ErrFormat, "%q", value)
	}
	require.Equal(t, "a_-9", metaName(26<<26|62<<20|63<<14|61<<8))
}

// TestValkey reads what means something else in Valkey's files and payloads.
func TestValkey(t *testing.T) {
	timed := rec(typeValkeyHash, "\x02\x01f\x01v"+le64(2000000)+"\x01g\x01w"+le64(1<<64-1))
	slots := []byte{opSlotImport, 4, 'n', 'a', 'm', 'e', 1, 2, 3}
	expect := map[string]string{"k": want(object.Hash, 2, `"f" "v" 2000000`, `"g" "w" 0`)}
	b := valkeyFile(slots, timed)
	require.Equal(t, expect, loaded(t, b))
	tamper(t, b)
	v, err := Restore(payload(versionValkey, "\x16"+string(timed[3:])), ReadOptions{})
	require.NoError(t, err)
	ks := newKeyspace(t, redisLimits(), 1)
	require.NoError(t, Insert(ks.DB(0), []byte("k"), &v, NoAccess()))
	require.Equal(t, expect, image(ks.DB(0)))
	far := valkeyFile(rec(typeValkeyHash, "\x01\x01f\x01v"+le64(1<<63-1)))
	require.Equal(t, map[string]string{"k": want(object.Hash, 1, `"f" "v" 281474976710655`)},
		loaded(t, far), "the latest that our files hold")
	for _, version := range []int{VersionMax + 1, versionValkey - 1, versionValkey + 1} {
		_, err := Restore(payload(version, "\x00\x01a"), ReadOptions{})
		require.ErrorIs(t, err, ErrPayload, version)
	}
	for op := byte(typeValkeyHash + 1); op <= typeLimiter; op++ {
		if op == typeStream4 || op == typeStream5 { // which our own logs may have
			continue
		}
		err := load(newKeyspace(t, redisLimits(), 1), bytes.NewReader(valkeyFile(rec(op, ""))),
			ReadOptions{})
		require.ErrorContains(t, err, fmt.Sprintf("offset 9: unknown record type %d", op))
	}
}
