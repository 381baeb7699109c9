// Package rdb reads and writes values in the format of Redis's files. It knows no files, sockets or
// clocks.
//
// # File
//
//	+-----------+---------+--------+-----+------+-----------+
//	| REDIS0010 | records | …      |     | 0xFF | crc64, LE |
//	+-----------+---------+--------+-----+------+-----------+
//
// A record begins with a byte. From 243 on it is an opcode (auxiliary field, database number, table
// sizes, expiry, …). Below that it is a record type, which says how the value behind the key is
// laid out:
//
//	[expiry] [idle time or frequency] type key value
//
// # Primitives
//
//	length  00xxxxxx · 01xxxxxx yyyyyyyy · 80 + 4 bytes, BE · 81 + 8 bytes, BE
//	string  length, bytes · C0 + int8 · C1 + int16, LE · C2 + int32, LE ·
//	        C3, compressed length, length, LZF data
//	time    8 bytes, LE, unix ms
//	score   8 bytes, IEEE 754, LE
//
// For example SET k 300 is 00 · 01 6B · C1 2C 01.
//
// # Parts
//
// Encoder appends records to a buffer. Reader splits a stream into records and decodes them, on
// other goroutines if it may. Dump and Restore are the same for one value without a key. Insert
// puts a decoded Value into the keyspace. A data type is one Type (types.go): its record types,
// encoder, decoder, and the commands that recreate it. It registers itself; nothing else knows how
// many there are.
//
// # Trust
//
// Nothing that is read is believed. Packed blobs are walked byte by byte before the packages that
// own them see them. Elements must be distinct where the type says so, and scores must be numbers.
// Memory grows with the bytes that came, never with a length they claim.
//
// # Versions
//
// What is written loads in Redis 7.0 (Version), except for what needs a later record type: hashes
// whose fields have deadlines, and streams with groups. These raise the version of their file or
// payload. Versions 1 to VersionMax are read, and Valkey's own (valkey.go).
//
//	version  since      adds
//	11       Redis 7.2  20 a set's listpack, 21 streams whose consumers tell when they were active
//	12       Redis 7.4  22 to 25 hashes whose fields have deadlines
//	13       Redis 8.6  26 streams that know their producers; opcode 243, metadata of a key
//	14       Redis 8.8  27 streams with NACKed entries, 28 arrays
//	15       Redis 8.10 29 to 32 hashes whose fields are named by a template; opcode 242, a template
//
// Source of the format: what redis-server writes; of versions 13 to 15, their published sources.
package rdb

import (
	"errors"
	"fmt"
)

const (
	// Version is the version of the files and payloads that are written.
	Version = 10
	// VersionStreams is the version that a stream with groups asks for.
	VersionStreams = 11
	// VersionFieldDeadlines is the version that a hash with field deadlines asks for.
	VersionFieldDeadlines = 12
	// VersionProducers is the version that a stream asks for which knows its producers.
	VersionProducers = 13
	// VersionNacked is the version that a stream with NACKed entries asks for.
	VersionNacked = 14
	// VersionMax is the latest version that is read, that of Redis 8.10.
	VersionMax = 15

	magic = "REDIS"
	// HeaderLen is the length of a file's header in bytes.
	HeaderLen = 9
	// ChecksumLen is the length of the checksum behind the end of a file in bytes.
	ChecksumLen = 8

	versionChecksum = 5 // the first with a checksum at the end
)

// Opcodes.
const (
	opTemplate   = 242
	opKeyMeta    = 243 // opSlotImport in Valkey's files
	opSlotInfo   = 244
	opFunction2  = 245
	opFunctionRC = 246 // of 7.0's release candidates
	opModuleAux  = 247
	opIdle       = 248
	opFreq       = 249
	opAux        = 250
	opResize     = 251
	opExpireMs   = 252
	opExpire     = 253
	opSelectDB   = 254
	opEOF        = 255
	moduleEOF    = 0
	moduleSint   = 1
	moduleUint   = 2
	moduleFloat  = 3
	moduleDouble = 4
	moduleString = 5
)

// Record types.
const (
	typeString          = 0
	typeList            = 1
	typeSet             = 2
	typeZSet            = 3 // scores as text
	typeHash            = 4
	typeZSet2           = 5
	typeModule          = 6
	typeModule2         = 7
	typeHashZipmap      = 9
	typeListZiplist     = 10
	typeSetIntset       = 11
	typeZSetZiplist     = 12
	typeHashZiplist     = 13
	typeListQuicklist   = 14 // of ziplists
	typeStream          = 15
	typeHashListpack    = 16
	typeZSetListpack    = 17
	typeListQuicklist2  = 18
	typeStream2         = 19
	typeSetListpack     = 20
	typeStream3         = 21
	typeHashMetadataRC  = 22 // absolute deadlines
	typeHashListpackRC  = 23
	typeHashMetadata    = 24 // deadlines relative to the earliest
	typeHashListpackEx  = 25
	typeStream4         = 26
	typeStream5         = 27
	typeArray           = 28
	typeTemplateLP      = 29 // with its template
	typeTemplateLPRef   = 30 // with the number of its template
	typeTemplateArray   = 31
	typeTemplateArrRef  = 32
	typeLimiter         = 33
	containerPlain      = 1
	containerPacked     = 2
	encInt8             = 0
	encInt16            = 1
	encInt32            = 2
	encLZF              = 3
	minCompressedString = 21 // bytes; shorter strings are not worth trying
)

// Error reports what is wrong with bytes that were read.
type Error struct {
	Offset int64  // of the first byte of what is wrong, from the start of the file or payload
	Key    []byte // of the record, nil outside of one
	Reason string
	// Refused is set if the record is sound but cannot be loaded: what it is, "array".
	Refused string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Key == nil {
		return fmt.Sprintf("offset %d: %s", e.Offset, e.Reason)
	}
	return fmt.Sprintf("offset %d, key %.64q: %s", e.Offset, e.Key, e.Reason)
}

// What Restore reports.
var (
	// ErrPayload is a payload of an unknown version or with a wrong checksum.
	ErrPayload = errors.New("DUMP payload version or checksum are wrong")
	// ErrFormat is a payload whose value is broken; it is wrapped with what is wrong.
	ErrFormat = errors.New("bad data format")
)

// What Insert reports.
var (
	// ErrBusy is a key that is there already.
	ErrBusy = errors.New("rdb: the key exists already")
	// ErrEmpty is a collection without elements.
	ErrEmpty = errors.New("rdb: a collection without elements")
	// ErrDuplicate is a collection with two equal elements. Nothing was inserted.
	ErrDuplicate = errors.New("rdb: duplicate elements")
)
