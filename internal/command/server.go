package command

import (
	"strings"

	"godwit/internal/engine"
	"godwit/internal/object"
)

var _ = family(serverHandlers)

func serverHandlers() engine.Handlers {
	return engine.Handlers{
		"time":     timeCmd,
		"lastsave": func(c *engine.Ctx) { c.Int(c.E.LastSave()) },
		"role":     roleCmd,
		"shutdown": shutdownCmd,
		"lolwut":   lolwutCmd,
	}
}

func timeCmd(c *engine.Ctx) {
	us := c.E.NowMicros()
	c.Array(2)
	c.BulkInt(us / 1e6)
	c.BulkInt(us % 1e6)
}

func shutdownCmd(c *engine.Ctx) {
	o, abort, ok := shutdownOptions(c.Args[1:])
	switch {
	case !ok:
		c.Err(engine.ErrSyntax)
		return
	case abort:
		if !c.E.AbortShutdown() {
			c.Err("ERR No shutdown in progress.")
			return
		}
		c.OK()
		return
	case c.E.InScript() && !o.NoSave: // BUSY: half of a script's effects must not be saved.
		c.Err(c.E.BusyText())
		return
	}
	if c.E.Shutdown == nil || c.E.Shutdown(o) != nil {
		c.Err(engine.ErrShutdownFailed)
		return
	}
	if c.E.ShutdownWaits() {
		c.BlockUntilShutdown()
		return
	}
	// The reply is that the connection closes.
	c.Client.CloseAfterReply = true
}

func shutdownOptions(args [][]byte) (o engine.ShutdownOptions, abort, ok bool) {
	for _, a := range args {
		switch {
		case is(a, "nosave"):
			o.NoSave = true
		case is(a, "save"):
			o.Save = true
		case is(a, "now"):
			o.Now = true
		case is(a, "force"):
			o.Force = true
		case is(a, "abort"):
			abort = true
		default:
			return o, abort, false
		}
	}
	return o, abort, !(o.Save && o.NoSave) && !(abort && o != engine.ShutdownOptions{})
}

// This is the size of LOLWUT's picture in characters, unless the arguments set another.
const (
	lolwutCols, lolwutRows       = 60, 9
	lolwutMaxCols, lolwutMaxRows = 200, 100
)

// lolwutCmd draws a godwit on a beach: LOLWUT [VERSION v] [columns [rows]]. There is one picture,
// so the version has no effect.
func lolwutCmd(c *engine.Ctx) {
	args := c.Args[1:]
	switch {
	case len(args) >= 2 && is(args[0], "version"):
		if _, ok := intArg(c, args[1]); !ok {
			return
		}
		args = args[2:]
	case len(args) == 1 && is(args[0], "version"):
		args = nil
	}
	cols, rows := lolwutCols, lolwutRows
	for i, p := range []*int{&cols, &rows} {
		if i >= len(args) {
			break
		}
		// Other arguments are ignored, as by the versions of Redis that have no picture.
		if n, ok := object.ParseInt(args[i]); ok {
			*p = int(n)
		}
	}
	cols = min(max(cols, 1), lolwutMaxCols)
	rows = min(max(rows, 1), lolwutMaxRows)
	c.Verbatim("txt", beach(cols, rows, c.E.Rand().IntN)+
		"\nThe godwit flies 11,000 km without a rest. Godwit ver. "+engine.Version+", Redis ver. "+
		c.E.Cfg.CompatVersion+"\n")
}

var bird = []string{
	`   __`,
	`  (o \____`,
	`===-\  \\\)>`,
	`     '-|-'`,
	`      /|`,
}

// beach draws waves above sand, with the bird at a random place. intn returns a random number below
// its argument.
func beach(cols, rows int, intn func(int) int) string {
	var b strings.Builder
	at := intn(max(cols-12, 1))
	for row := range rows {
		line := []byte(strings.Repeat(" ", cols))
		fill, density := byte('~'), 4
		if row > rows/3 {
			fill, density = '.', 12
		}
		for i := range line {
			if intn(density) == 0 {
				line[i] = fill
			}
		}
		if k := row - (rows - len(bird)); k >= 0 {
			for i := range len(bird[k]) {
				if ch := bird[k][i]; ch != ' ' && at+i < cols {
					line[at+i] = ch
				}
			}
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String()
}
