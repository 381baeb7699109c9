package rdb

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/bloom"
	"godwit/internal/object"
)

// FuzzReader gives any bytes to the reader; what it accepts can be read, written and read again. A
// survey comes to an end, and gets through all that a load gets through.
func FuzzReader(f *testing.F) {
	f.Add(smallFile(f))
	f.Add(file(10, rec(typeListQuicklist, "\x01"+str(zip(zstr("a"), "\xf3")))))
	for _, op := range streamOps {
		f.Add(file(VersionMax, rec(op, streamOf(op))))
	}
	f.Add(file(1, rec(typeHashZipmap, str("\x01\x01f\x01\x00v\xff"))))
	f.Add(file(12, rec(typeHashMetadata, le64(2000000)+"\x01\x01\x01f\x01v")))
	f.Add(file(10,
		rec(typeModule2,
			string(encodedFilter(f, bloom.Params{Error: 0.01, Capacity: 5, Growth: 2}, 12)[1:]))))
	for _, r := range templateRecords() {
		f.Add(file(r.version, r.record))
	}
	survey, _ := surveyFile()
	f.Add(survey)
	f.Add(valkeyFile([]byte{opSlotImport, 4, 'n', 'a', 'm', 'e', 1, 2, 3},
		rec(typeValkeyHash, "\x01\x01f\x01v"+le64(2000000))))
	f.Fuzz(func(t *testing.T, b []byte) {
		ks := newKeyspace(t, redisLimits(), 1)
		_, end := surveyed(bytes.NewReader(b))
		if load(ks, bytes.NewReader(b), ReadOptions{NoChecksum: true}) != nil {
			return
		}
		if !errors.Is(end, io.EOF) {
			require.ErrorContains(t, end, "CRC error")
		}
		back := newKeyspace(t, redisLimits(), 1)
		require.NoError(t,
			load(back, bytes.NewReader(encodeAll(ks, true)), ReadOptions{Workers: 1}))
		for i := range ks.Databases() {
			require.Equal(t, image(ks.DB(i)), image(back.DB(i)))
		}
	})
}

// FuzzRestore gives any bytes to the decoder of each record type of Redis and of Valkey. The first
// byte chooses it; version and checksum are made right.
func FuzzRestore(f *testing.F) {
	for _, v := range []string{
		"\x00\x01a", "\x00\xc3\x05\x0a\x00a\xe0\x00\x00", "\x01\x02\x01a\x01b",
		"\x02\x02\x01a\x01b", "\x03\x01\x01a\x031.5", "\x04\x01\x01f\x01v",
		"\x05\x01\x01a" + double(1), "\x09" + str("\x01\x01f\x01\x00v\xff"),
		"\x0a" + str(zip(zstr("a"), "\xf3")),
		"\x0b" + str("\x02\x00\x00\x00\x02\x00\x00\x00\x05\x00\x07\x00"),
		"\x0c" + str(zip(zstr("a"), "\xf3")), "\x0d" + str(zip(zstr("f"), zstr("v"))),
		"\x0e\x01" + str(zip(zstr("a"))), "\x10" + str(lpack("f", "v")),
		"\x11" + str(lpack("a", "1.5")), "\x12\x02\x02" + str(lpack("a")) + "\x01\x01b",
		"\x14" + str(lpack("a", "1")), "\x16\x01\x05\x01f\x01v",
		"\x17" + str(lpack("f", "v", "2000000")), "\x18" + le64(2000000) + "\x01\x01\x01f\x01v",
		"\x19" + le64(2000000) + str(lpack("f", "v", "2000000")),
		"\x16\x01\x01f\x01v" + le64(2000000),
		"\x1d\x00" + str(lpack("a", "bb")) + str(lpack("0", "1", "two")),
		"\x1f\x01\x02\x01a\x02bb\xc0\x01\x03two", "\xf3\x01\x01\x00\x00\x04\x02\x05\x00\x00\x01a",
	} {
		f.Add([]byte(v))
	}
	for _, op := range streamOps {
		f.Add(append([]byte{op}, streamOf(op)...))
	}
	for _, murmur64a := range []bool{false, true} {
		f.Add(encodedFilter(f,
			bloom.Params{Error: 0.01, Capacity: 5, Growth: 2, Murmur64A: murmur64a}, 12))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, version := range []int{VersionMax, versionValkey} {
			restored(t, payload(version, string(b)))
		}
	})
}

// restored restores a payload. If that can be done it checks that the value can be written and read
// again.
func restored(t *testing.T, b []byte) {
	for _, lim := range []object.Limits{redisLimits(), {ListMaxListpackSize: 1}} {
		v, err := Restore(b, ReadOptions{Streams: lim.Stream})
		if err != nil {
			return
		}
		ks := newKeyspace(t, lim, 1)
		if Insert(ks.DB(0), []byte("k"), &v, NoAccess()) != nil {
			continue
		}
		en := ks.DB(0).Peek([]byte("k"))
		if !en.Exists() {
			continue // all its fields were due
		}
		var e Encoder
		Dump(&e, ks.Heap, en)
		again, err := Restore(e.B, ReadOptions{})
		require.NoError(t, err)
		back := newKeyspace(t, redisLimits(), 1)
		require.NoError(t, Insert(back.DB(0), []byte("k"), &again, NoAccess()))
		require.Equal(t, image(ks.DB(0)), image(back.DB(0)))
	}
}
