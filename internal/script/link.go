package script

import (
	"slices"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/ast"

	"godwit/internal/script/syntax"
	"godwit/internal/strtod"
)

// link makes compiled code ready to run. It replaces the strings that stand for constants by the
// constants, and corrects what the compiler makes of long table constructors.
func (s *State) link(p *lua.FunctionProto, usesArg bool, pool *lua.LTable) {
	if !usesArg {
		p.IsVarArg &^= lua.VarArgNeedsArg
	}
	for i, c := range p.Constants {
		str, ok := c.(lua.LString)
		if !ok || !strings.HasPrefix(string(str), s.nonce) {
			continue
		}
		if v := s.consts[string(str)]; v != nil {
			p.Constants[i] = v
		} else if pool != nil && string(str[len(s.nonce):]) == "pool" {
			p.Constants[i] = pool
		}
	}
	mendLists(p)
	clip(p)
	for _, f := range p.FunctionPrototypes {
		s.link(f, usesArg, pool)
	}
}

// clip makes the slices of a function as short as they are. The compiler makes them with room for
// hundreds of entries, 7 KB for each function.
func clip(p *lua.FunctionProto) {
	p.Code, p.DbgSourcePositions = slices.Clone(p.Code), slices.Clone(p.DbgSourcePositions)
	p.Constants = slices.Clone(p.Constants)
	p.FunctionPrototypes = slices.Clone(p.FunctionPrototypes)
	p.DbgLocals, p.DbgCalls = slices.Clone(p.DbgLocals), slices.Clone(p.DbgCalls)
	p.DbgUpvalues = slices.Clone(p.DbgUpvalues)
}

// mendLists corrects the instructions that store a constructor's elements, fifty at a time. There
// are two faults. When a multiple of fifty has been stored, the compiler stores the last fifty
// again for each named field that follows, from registers that hold something else by then. And a
// last element that is a list of values overwrites the last fifty.
func mendLists(p *lua.FunctionProto) {
	var last [256]int // C of the last store into the table in each register
	for pc := 0; pc < len(p.Code); pc++ {
		in := p.Code[pc]
		switch opcode(in) {
		case lua.OP_NEWTABLE:
			last[argA(in)] = 0
		case lua.OP_CLOSURE:
			pc += int(p.FunctionPrototypes[in&0x3ffff].NumUpvalues)
		case lua.OP_SETLIST:
			a, c := argA(in), argC(in)
			if c != last[a] {
				last[a] = c
			} else if argB(in) == 0 {
				p.Code[pc] = in + 1<<9 // the parser keeps constructors short of the end of C
			} else {
				p.Code[pc] = uint32(lua.OP_NOP) << 26
			}
		}
	}
}

// tooLong reports whether a function has more code than a jump can cross.
func tooLong(p *lua.FunctionProto) bool {
	if len(p.Code) > syntax.MaxCode {
		return true
	}
	for _, f := range p.FunctionPrototypes {
		if tooLong(f) {
			return true
		}
	}
	return false
}

// compileError puts an error of the compiler into Lua's words.
func compileError(err error, chunk string, long *syntax.Error) error {
	msg, line := err.Error(), 1
	if ce, ok := err.(*lua.CompileError); ok {
		msg, line = ce.Message, max(ce.Line, 1)
	}
	switch {
	case msg == "too long to jump." && long != nil:
		return long
	case msg == "too long to jump.":
		msg = "control structure too long"
	case strings.HasPrefix(msg, "register overflow"), msg == "too many local variables":
		msg = "function or expression too complex"
	case msg == "too many constants":
		return &syntax.Error{Msg: "constant table overflow"}
	}
	return &syntax.Error{Msg: chunk + ":" + strconv.Itoa(line) + ": " + msg}
}

// pool returns the table of the constants that the code takes from a table.
func (s *State) pool(list []ast.Expr) *lua.LTable {
	if len(list) == 0 {
		return nil
	}
	t := s.L.CreateTable(0, 0)
	for i, e := range list {
		row, column := syntax.Place(i)
		r, ok := t.RawGetInt(row).(*lua.LTable)
		if !ok {
			r = s.L.CreateTable(0, 0)
			t.RawSetInt(row, r)
		}
		switch e := e.(type) {
		case *ast.NumberExpr:
			n, _ := strtod.ParseFloat(e.Value) // written by the parser
			r.RawSetInt(column, lua.LNumber(n))
		case *ast.StringExpr:
			r.RawSetInt(column, lua.LString(e.Value))
		}
	}
	return t
}

// spread implements a long list. It returns t[1] … t[n] and its further arguments.
func (s *State) spread(L *lua.LState) int {
	n, top := int(L.Get(1).(lua.LNumber)), L.GetTop()
	t := L.Get(2).(*lua.LTable)
	for i := 1; i <= n; i++ {
		L.Push(rawIndex(t, i))
	}
	for i := 3; i <= top; i++ {
		L.Push(L.Get(i))
	}
	return n + top - 2
}

// appendParts implements a long constructor.
func (s *State) appendParts(L *lua.LState) int {
	t := L.Get(1).(*lua.LTable)
	for i := 2; i < L.GetTop(); i += 2 {
		offset, part := int(L.Get(i).(lua.LNumber)), L.Get(i+1).(*lua.LTable)
		part.ForEach(func(k, v lua.LValue) {
			if n, ok := k.(lua.LNumber); ok {
				s.set(t, offset+int(n), v)
			}
		})
		s.grow(L, 0)
	}
	L.Push(t)
	return 1
}
