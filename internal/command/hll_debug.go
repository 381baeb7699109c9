package command

import (
	"fmt"

	"godwit/internal/engine"
	"godwit/internal/hll"
)

func pfdebugCmd(c *engine.Ctx) {
	e := c.DB.Lookup(c.Args[2])
	if !e.Exists() {
		c.Err("ERR The specified key does not exist")
		return
	}
	if _, ok := hllAt(c, e); !ok {
		return
	}
	w := openHLL(c, e)
	sub := c.Args[1]
	switch {
	case is(sub, "getreg"):
		pfdebugGetreg(c, &w)
	case is(sub, "decode"):
		if hll.Dense(w.b) {
			c.Err("ERR HLL encoding is not sparse")
			return
		}
		c.Bulk(hll.AppendOpcodes(nil, w.b))
	case is(sub, "encoding"):
		c.Simple(hllEncoding(w.b))
	case is(sub, "todense"):
		conv, ok := pfdebugDense(c, &w)
		if ok {
			c.Int(conv)
		}
	default:
		c.Err("ERR Unknown PFDEBUG subcommand '" + string(sub) + "'")
	}
}

func hllEncoding(b []byte) string {
	if hll.Dense(b) {
		return "dense"
	}
	return "sparse"
}

// pfdebugDense converts the value to a dense one. It returns 1 if that was needed, else 0.
func pfdebugDense(c *engine.Ctx, w *hllWriter) (int64, bool) {
	if hll.Dense(w.b) {
		return 0, true
	}
	if w.densify() != nil {
		c.Err(engine.ErrCorruptHLL)
		return 0, false
	}
	c.Changed(c.Args[2])
	c.Dirty(1)
	return 1, true
}

func pfdebugGetreg(c *engine.Ctx, w *hllWriter) {
	if _, ok := pfdebugDense(c, w); !ok {
		return
	}
	c.Array(hll.Registers)
	for i := range hll.Registers {
		c.Int(int64(hll.Register(w.b, i)))
	}
}

func pfselftestCmd(c *engine.Ctx) {
	if err := hll.SelfTest(); err != nil {
		c.Err(fmt.Sprintf("TESTFAILED %v", err))
		return
	}
	c.OK()
}
