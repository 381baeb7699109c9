package rdb

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrNoFunction is a payload of something else than functions.
var ErrNoFunction = errors.New("given type is not a function")

// DumpFunctions appends the payload of FUNCTION DUMP to e.B: a record for each library, as in a
// file, then version and checksum as in DUMP's payload.
func DumpFunctions(e *Encoder, sources [][]byte) {
	start := len(e.B)
	for _, code := range sources {
		e.Function(code)
	}
	e.B = binary.LittleEndian.AppendUint16(e.B, uint16(max(e.Target.Version(), Version)))
	e.B = binary.LittleEndian.AppendUint64(e.B, CRC64(0, e.B[start:]))
}

// RestoreFunctions decodes a payload of FUNCTION DUMP to the sources of libraries, which may alias
// it. The checksum counts if checksum is set. Errors are ErrPayload, ErrNoFunction and wrapped
// ErrFormat.
func RestoreFunctions(payload []byte, checksum bool) ([][]byte, error) {
	n := len(payload) - footerLen
	if n < 0 {
		return nil, ErrPayload
	}
	if ok, _ := readable(binary.LittleEndian.Uint16(payload[n:])); !ok ||
		checksum && CRC64(0, payload[:n+2]) != binary.LittleEndian.Uint64(payload[n+2:]) {
		return nil, ErrPayload
	}
	d := Decoder{b: payload[:n]}
	var sources [][]byte
	for d.left() > 0 {
		op, _ := d.Byte()
		if op != opFunction2 {
			return nil, ErrNoFunction
		}
		code, err := d.String()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrFormat, err)
		}
		sources = append(sources, code)
	}
	return sources, nil
}
