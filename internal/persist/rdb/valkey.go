package rdb

import "encoding/binary"

// Valkey's files from version 9 on are Redis's of version 11 with a head of their own, VALKEY080,
// and one record type that in Redis's means something else: 22, a hash whose fields have deadlines.
//
//	length, then for each field: field, value, 8 bytes: unix ms, LE, −1 for none
//
// So it is with opcode 243: slots of a cluster that are being imported, a string and a number of
// ranges. Payloads have no head: their version says whose they are. Redis's record types from 23 on
// have no meaning there, and are refused, except for those of streams (26, 27): the base of our own
// log may need them, whatever rdb-version says. Source: what valkey-server 9.1 writes.

const (
	magicValkey = "VALKEY"
	// versionValkey is the version of Valkey's that is read. Versions 12 to 79 are nobody's: Valkey
	// leaves them to Redis.
	versionValkey = 80

	opSlotImport     = 243 // opKeyMeta in Redis's files
	typeValkeyHash   = 22  // in a file
	typeValkeyHashIn = 240 // for the registry, which has Redis's 22 too; no file has it
	typeUnknown      = 241 // neither has any this
)

// dialect returns the registry's record type for one of the file.
func dialect(op byte, valkey bool) byte {
	switch {
	case op == typeValkeyHashIn:
		return typeUnknown
	case !valkey || op == typeStream4 || op == typeStream5:
	case op == typeValkeyHash:
		return typeValkeyHashIn
	case op > typeValkeyHash && op <= typeLimiter:
		return typeUnknown
	}
	return op
}

// readable reports whether a payload of the version is read, and whether it is Valkey's.
func readable(version uint16) (ok, valkey bool) {
	valkey = version == versionValkey
	return valkey || version <= VersionMax, valkey
}

// decodeHashValkey turns the fields into what decodeHashMetadata leaves, with deadlines relative to
// the smallest there can be.
func decodeHashValkey(d *Decoder) (Value, error) {
	const earliest = 1
	n, err := d.Count(2 + 8)
	if err != nil {
		return Value{}, err
	}
	v := Value{form: formElements, n: int64(n), timed: true, earliest: earliest}
	var e Encoder
	for range n {
		pair := d.flatten()
		for range 2 {
			if err := pair.string(); err != nil {
				return Value{}, err
			}
		}
		b := pair.end()
		at := d.pos
		u, err := d.Uint64()
		if err != nil {
			return Value{}, err
		}
		deadline := int64(u)
		switch {
		case deadline == -1:
			e.Len(0)
		case deadline < 0:
			d.pos = at
			return Value{}, d.errorf("a field's deadline is %d", deadline)
		default: // 0 has passed, and would mean none; later than our files hold is as late as that
			deadline = min(max(deadline, earliest), maxDeadline)
			e.Len(uint64(deadline - earliest + 1))
		}
		e.B = append(e.B, b...)
		v.max = max(v.max, pair.max)
	}
	v.b = e.B
	return v, nil
}

// valkeyDeadline adds the deadline of a field, 0 for none.
func (e *Encoder) valkeyDeadline(ms int64) {
	if ms == 0 {
		ms = -1
	}
	e.B = binary.LittleEndian.AppendUint64(e.B, uint64(ms))
}
