package engine

import (
	"godwit/internal/object"
	"godwit/internal/script"
	"godwit/internal/spec"
)

// Handlers holds what runs commands, by the commands' full names.
type Handlers map[string]func(c *Ctx)

// Touch tells w what a command will read of the value of its first key, whose entry is e. argv
// satisfies the command's arity. Touch is called for commands that are read ahead, once the entry
// has been fetched, and must change nothing. When the command runs, the entry may be another one,
// or the key due or gone.
type Touch func(w *object.Warmup, e object.Entry, argv [][]byte)

// Table holds the commands and what runs them.
type Table struct {
	*spec.Table
	run   []func(c *Ctx) // by ID; nil for a container that cannot be run
	touch []touch        // by ID, mostly nil

	routes []route // by ID

	// declared is by ID, and nil but for commands that run scripts.
	declared []Declared
}

// Declared returns the flags that the script or function of a call declares, and false if it
// declares none or is not known.
type Declared func(c *Ctx) (script.Flags, bool)

// NewTable gives the commands of t their handlers. It panics if a command has none or two, or if a
// handler has no command. These are programming errors, which any test finds.
func NewTable(t *spec.Table, handlers ...Handlers) *Table {
	n := len(t.All())
	table := &Table{Table: t, run: make([]func(c *Ctx), n), touch: make([]touch, n),
		declared: make([]Declared, n), routes: make([]route, n)}
	for _, h := range handlers {
		for name, run := range h {
			c := t.Named(name)
			if c == nil || !c.Runs() || table.run[c.ID()] != nil {
				panic("command table: no command, or another handler: " + name)
			}
			table.run[c.ID()] = run
		}
	}
	for _, c := range t.All() {
		table.routes[c.ID()] = routeOf(c)
		if c.Runs() && table.run[c.ID()] == nil {
			panic("command table: no handler: " + c.FullName())
		}
	}
	return table
}

// leaveOutCluster takes the commands away that only a node of a cluster has.
func (t *Table) leaveOutCluster() {
	for _, name := range spec.ClusterOnly {
		t.LeaveOut(name)
	}
}

// SetDeclared says how to find what the scripts of a command declare.
func (t *Table) SetDeclared(name string, fn Declared) { t.declared[t.Named(name).ID()] = fn }

// callFlags returns the flags of a call: those of the command, of what EXEC runs, or those that a
// script declares.
func (t *Table) callFlags(c *Ctx) spec.Flag {
	f := effectiveFlags(c.Cmd, c.Client)
	fn := t.declared[c.Cmd.ID()]
	if fn == nil {
		return f
	}
	has, ok := fn(c)
	if !ok {
		return f
	}
	f &^= spec.Stale | spec.DenyOOM | spec.Write | spec.MayReplicate
	if has&script.AllowStale != 0 {
		f |= spec.Stale
	}
	if has&script.NoWrites == 0 {
		f |= spec.Write
		if has&script.AllowOOM == 0 {
			f |= spec.DenyOOM
		}
	}
	return f
}

// route says how the slot of a call is found.
type route uint8

const (
	routeNone  route = iota // it has no keys
	routeOne                // of the only key, Command.FirstKey
	routeKeys               // of all keys
	routeQueue              // of the keys of the commands that it runs
)

func routeOf(c *spec.Command) route {
	switch {
	case c.Is(spec.RunsQueue):
		return routeQueue
	case c.OnlyKey() > 0 && c.OnlyKey() == c.FirstKey() && !c.UsesShardChannels():
		return routeOne
	case len(c.Keys) > 0 || c.KeysFn != nil:
		return routeKeys
	}
	return routeNone
}

// touch is what commands touch, and whether it is worth it to look at their keys for that.
type touch struct {
	does  Touch
	worth func(h *object.Heap) bool // nil: always
}

// SetTouch sets the Touch of commands.
func (t *Table) SetTouch(does Touch, names ...string) { t.SetTouchIf(nil, does, names...) }

// SetTouchIf is SetTouch for commands whose keys are not even looked at while worth reports false.
func (t *Table) SetTouchIf(worth func(h *object.Heap) bool, does Touch, names ...string) {
	for _, name := range names {
		t.touch[t.Named(name).ID()] = touch{does, worth}
	}
}

// Table returns the sealed command table.
func (e *Engine) Table() *Table { return e.table }

// effectiveFlags returns the flags that the gates go by. EXEC does what its commands do.
func effectiveFlags(cmd *spec.Command, cl *Client) spec.Flag {
	f := cmd.Flags
	if f&spec.RunsQueue == 0 || cl.multi == nil || len(cl.multi.cmds) == 0 {
		return f
	}
	m := cl.multi
	f |= m.any & (spec.Write | spec.ReadOnly | spec.DenyOOM | spec.MayReplicate)
	return f &^ ((spec.Loading | spec.Stale) &^ m.all)
}
