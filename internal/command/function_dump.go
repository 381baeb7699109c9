package command

import (
	"errors"

	"godwit/internal/crash"
	"godwit/internal/engine"
	"godwit/internal/persist/rdb"
	"godwit/internal/script"
)

func functionDumpCmd(c *engine.Ctx) {
	enc := payloadEncoder(c)
	rdb.DumpFunctions(&enc, c.E.FunctionSources())
	c.Bulk(enc.B)
}

func functionRestoreCmd(c *engine.Ctx) {
	if len(c.Args) > 4 {
		wrongSub(c)
		return
	}
	flush, replace := false, false
	if len(c.Args) == 4 {
		switch policy := c.Args[3]; {
		case is(policy, "append"):
		case is(policy, "replace"):
			replace = true
		case is(policy, "flush"):
			flush = true
		default:
			c.Err("ERR Wrong restore policy given, value should be either FLUSH, APPEND or " +
				"REPLACE.")
			return
		}
	}
	var sources [][]byte
	var err error
	if crash.Contain("decoding the payload of FUNCTION RESTORE", func() {
		sources, err = rdb.RestoreFunctions(c.Args[2], !c.E.Debug.SkipChecksums)
	}) {
		c.Err(engine.ErrInternal)
		return
	}
	if err != nil {
		c.Err("ERR " + restoreError(err))
		return
	}
	fs := c.E.Functions()
	if flush { // what they take has nothing to do with what those take that they replace
		fs = c.E.NewFunctions()
	}
	var set script.LibrarySet
	for _, code := range sources {
		if _, err := fs.LoadInto(&set, code, c.E.LoadOptions(c.Client, false)); err != nil {
			c.Err("ERR " + err.Error())
			return
		}
	}
	if err := fs.Join(&set, replace); err != nil {
		c.Err("ERR " + err.Error())
		return
	}
	c.E.AdoptFunctions(fs)
	c.Dirty(1)
	if c.Propagating() { // as a payload that older servers read
		enc := rdb.Encoder{Target: rdb.Redis70}
		rdb.DumpFunctions(&enc, sources)
		c.PropagateEach(append(append([][]byte(nil), c.Args[:2]...),
			append([][]byte{enc.B}, c.Args[3:]...)...)...)
	}
	c.OK()
}

// restoreError returns the error reply for an invalid payload.
func restoreError(err error) string {
	switch {
	case errors.Is(err, rdb.ErrPayload):
		return "DUMP payload version or checksum are wrong"
	case errors.Is(err, rdb.ErrNoFunction):
		return "given type is not a function"
	}
	return "failed loading the given functions payload"
}
