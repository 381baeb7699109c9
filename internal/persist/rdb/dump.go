package rdb

import (
	"encoding/binary"
	"errors"
	"fmt"

	"godwit/internal/object"
	"godwit/internal/stream"
)

// footerLen is the length of what a payload ends with: version and checksum.
const footerLen = 2 + ChecksumLen

// Dump appends the DUMP payload of an entry's value to e.B:
//
//	+------+-------+-------------+-----------+
//	| type | value | version, LE | crc64, LE |
//	+------+-------+-------------+-----------+
//
// The checksum covers everything before it. A payload keeps all that commands act upon: if the
// target cannot tell it, the payload is as for Auto, and such a server refuses it.
func Dump(e *Encoder, h *object.Heap, en object.Entry) {
	start := len(e.B)
	version, target := e.Version, e.Target
	e.Version = 0
	if t := TypeOf(en.Type()); t.Needs != nil {
		e.edit.Reset(h, en, nil)
		if !target.tells(t.Needs(&e.edit)) {
			e.Target = Auto
		}
	}
	e.Value(h, en)
	footer(e, start)
	e.Version, e.Target = version, target
	if e.lzf != nil {
		compressors.Put(e.lzf)
		e.lzf = nil
	}
}

// footer ends the payload that begins at start.
func footer(e *Encoder, start int) {
	version := e.Target.Version()
	if !e.Target.Fixed() {
		version = max(version, e.Version)
	}
	e.B = binary.LittleEndian.AppendUint16(e.B, uint16(version))
	e.B = binary.LittleEndian.AppendUint64(e.B, CRC64(0, e.B[start:]))
}

// PayloadVersion returns the version of RDB that a whole payload names.
func PayloadVersion(payload []byte) int {
	return int(binary.LittleEndian.Uint16(payload[len(payload)-footerLen:]))
}

// Restore decodes a DUMP payload. The value aliases it. Errors are ErrPayload and wrapped
// ErrFormat. An empty collection is refused. Of the options, NoChecksum and Streams count.
func Restore(payload []byte, o ReadOptions) (Value, error) {
	n := len(payload) - footerLen
	if n < 0 {
		return Value{}, ErrPayload
	}
	ok, valkey := readable(binary.LittleEndian.Uint16(payload[n:]))
	if !ok {
		return Value{}, ErrPayload
	}
	if !o.NoChecksum && CRC64(0, payload[:n+2]) != binary.LittleEndian.Uint64(payload[n+2:]) {
		return Value{}, ErrPayload
	}
	v, err := restore(payload[:n], valkey, o.Streams)
	if err != nil {
		return v, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return v, nil
}

func restore(b []byte, valkey bool, streams stream.Limits) (Value, error) {
	d := Decoder{b: b, streams: streams}
	op, err := d.Byte()
	if err == nil && op == opKeyMeta && !valkey {
		if err = d.keyMeta(); err == nil {
			op, err = d.Byte()
		}
	}
	if err != nil {
		return Value{}, err
	}
	v, err := d.value(dialect(op, valkey))
	if err != nil {
		return v, err
	}
	if d.pos != len(b) {
		return v, d.errorf("%d bytes behind the value", len(b)-d.pos)
	}
	if v.Empty() {
		return v, d.errorf("no elements")
	}
	return v, nil
}

// keyMeta skips the metadata that a payload begins with.
func (d *Decoder) keyMeta() error {
	s := skimmer{b: d.b, pos: d.pos, base: d.base}
	refused, _, err := s.keyMeta()
	switch {
	case errors.Is(err, errMore):
		return d.short()
	case err == nil && refused != "":
		return d.errorf("%s", refusal(refusedMeta(refused)))
	}
	d.pos = s.pos
	return err
}
