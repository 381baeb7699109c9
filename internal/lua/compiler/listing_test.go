package compiler

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"godwit/internal/lua/bytecode"
)

var (
	headerLine = regexp.MustCompile(`^(?:main|function) <.*:(\d+),(\d+)>`)
	countsLine = regexp.MustCompile(
		`^(\d+\+?) params?, (\d+) slots?, (\d+) upvalues?, .* (\d+) functions?$`)
	codeLine = regexp.MustCompile(`^\t(\d+)\t\[(-|\d+)\]\t(\w+) *\t([-\d ]*)`)
)

// luacFunction is a function in luac's listing.
type luacFunction struct {
	listing
	raw                 []instr
	constants           []string
	captured, functions int
}

// parseListings reads what luac prints.
func parseListings(out string) []*listing {
	var all []*luacFunction
	var f *luacFunction
	section := ""
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		word, _, _ := strings.Cut(line, " ")
		if m := headerLine.FindStringSubmatch(line); m != nil {
			f = &luacFunction{}
			f.header = m[1] + "-" + m[2]
			all, section = append(all, f), ""
		} else if m := countsLine.FindStringSubmatch(line); m != nil {
			f.header += " " + m[1]
			f.slots, f.captured, f.functions = atoi(m[2]), atoi(m[3]), atoi(m[4])
		} else if word == "constants" || word == "locals" || word == "upvalues" {
			section = word
		} else if section == "" {
			if m := codeLine.FindStringSubmatch(line); m != nil {
				f.raw = append(f.raw, instr{line: atoi(m[2]), op: m[3], args: strings.Fields(m[4])})
			}
		} else if words := strings.SplitN(line, "\t", 3); len(words) == 3 {
			f.item(section, words[2])
		}
	}
	var list []*listing
	for rest := all; len(rest) > 0; {
		rest = luacTree(rest)
	}
	for _, f := range all {
		list = append(list, &f.listing)
	}
	return list
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

// item reads a line of a section behind the code.
func (f *luacFunction) item(section, text string) {
	words := strings.Split(text, "\t")
	switch section {
	case "constants":
		f.constants = append(f.constants, "K"+text)
	case "locals":
		f.locals = append(f.locals, local{words[0], atoi(words[1]) - 1, atoi(words[2]) - 1})
	case "upvalues":
		f.upvalues = append(f.upvalues, text)
	}
}

// luacTree brings the first function and those in it to the common form. It returns the rest.
func luacTree(list []*luacFunction) (rest []*luacFunction) {
	f := list[0]
	rest = list[1:]
	var captured []int
	for range f.functions {
		captured = append(captured, rest[0].captured)
		rest = luacTree(rest)
	}
	f.convert(captured)
	return rest
}

// convert brings the code to the common form. captured has the numbers of upvalues of the functions
// in this one.
func (f *luacFunction) convert(captured []int) {
	arg := func(pc, n int) int { return atoi(f.raw[pc].args[n]) }
	for pc := 0; pc < len(f.raw); pc++ {
		i, more := f.raw[pc], 0 // instructions that are parts of this one
		next := []int{pc + 1}
		switch i.op {
		case "JMP":
			f.mark(pc + 1 + arg(pc, 0) + 1)
			continue
		case "EQ", "LT", "LE", "TEST", "TESTSET", "TFORLOOP":
			next = []int{pc + 2, pc + 2 + arg(pc+1, 0)}
			more = 1
		case "FORLOOP":
			next = append(next, pc+1+arg(pc, 1))
		case "FORPREP":
			next = []int{pc + 1 + arg(pc, 1)}
		case "LOADBOOL":
			next[0] += arg(pc, 2)
		case "CLOSURE":
			more = captured[arg(pc, 1)]
			next[0] += more
		}
		f.mark(0)
		f.code = append(f.code, instr{i.line, i.op, f.operands(i), next})
		for range more {
			pc++
			f.mark(0)
		}
	}
	f.end()
}

// operands returns the operands in the common form.
func (f *luacFunction) operands(i instr) []string {
	var args []string
	for _, a := range i.args {
		if n := atoi(a); n < 0 && i.op != "FORLOOP" {
			a = f.constants[-n-1]
		}
		args = append(args, a)
	}
	switch i.op {
	case "TEST", "TFORLOOP":
		return []string{args[0], args[len(args)-1]}
	case "FORLOOP", "FORPREP":
		return args[:1]
	case "LOADBOOL":
		return args[:2]
	case "EQ":
		sortOperands(args)
	}
	return args
}

// sortOperands gives the operands of == an order.
func sortOperands(args []string) {
	if args[1] > args[2] {
		args[1], args[2] = args[2], args[1]
	}
}

// listings returns a function and those in it in the common form.
func listings(p *bytecode.Proto) []*listing {
	l := &listing{slots: p.Registers}
	l.header = fmt.Sprintf("%d-%d %d", p.Line, p.LastLine, p.Params)
	if p.Vararg {
		l.header += "+"
	}
	for _, u := range p.Upvalues {
		l.upvalues = append(l.upvalues, u.Name)
	}
	for _, v := range p.Locals {
		l.locals = append(l.locals, local{v.Name, int(v.Start), int(v.End)})
	}
	for pc, i := range p.Code {
		if i.Op() == bytecode.Jump {
			l.mark(pc + 1 + i.D() + 1)
			continue
		}
		l.mark(0)
		if i.Op() == bytecode.ForTest {
			continue // a part of ForCall
		}
		in := common(p, i)
		in.line, in.next = int(p.Lines[pc]), []int{pc + 1}
		switch {
		case i.Op() == bytecode.ForPrep:
			in.next[0] += i.D()
		case i.Op() == bytecode.LoadBool && i.C() != 0:
			in.next[0]++
		case i.Op() == bytecode.ForCall:
			in.next = []int{pc + 2, pc + 2 + p.Code[pc+1].D()}
		case isJump(i.Op()):
			in.next = append(in.next, pc+1+i.D())
		}
		l.code = append(l.code, in)
	}
	l.end()
	all := []*listing{l}
	for _, f := range p.Protos {
		all = append(all, listings(f)...)
	}
	return all
}

// forms has Lua's name of each operation, and its operands: the fields of ours, K for the constant
// d, k for the constant b or c of a comparison, f for that of SetFieldK, n for the number d as a
// constant, l for the batch of a SetList.
var forms = map[bytecode.Op]string{
	bytecode.Move: "MOVE a b", bytecode.LoadK: "LOADK a K", bytecode.LoadNil: "LOADNIL a b",
	bytecode.LoadBool: "LOADBOOL a b", bytecode.GetUpval: "GETUPVAL a b",
	bytecode.SetUpval: "SETUPVAL a b", bytecode.GetGlobal: "GETGLOBAL a K",
	bytecode.SetGlobal: "SETGLOBAL a K", bytecode.GetIndex: "GETTABLE a b c",
	bytecode.GetConst: "GETTABLE a b K", bytecode.GetField: "GETTABLE a b K",
	bytecode.GetInt: "GETTABLE a b n", bytecode.SetIndex: "SETTABLE a b c",
	bytecode.SetIndexK: "SETTABLE a b K", bytecode.SetConst: "SETTABLE a K c",
	bytecode.SetField: "SETTABLE a K c", bytecode.SetFieldK: "SETTABLE a K f",
	bytecode.SetInt: "SETTABLE a n c", bytecode.Self: "SELF a b K",
	bytecode.NewTable: "NEWTABLE a b c", bytecode.SetList: "SETLIST a b l",
	bytecode.Unm: "UNM a b", bytecode.Not: "NOT a b", bytecode.Len: "LEN a b",
	bytecode.Concat: "CONCAT a b c", bytecode.JumpIf: "TEST a c", bytecode.JumpSet: "TESTSET a b c",
	bytecode.JumpEq: "EQ a b c", bytecode.JumpEqK: "EQ a b kc", bytecode.JumpLt: "LT a b c",
	bytecode.JumpLtRK: "LT a b kc", bytecode.JumpLtKR: "LT a kb c", bytecode.JumpLe: "LE a b c",
	bytecode.JumpLeRK: "LE a b kc", bytecode.JumpLeKR: "LE a kb c", bytecode.Call: "CALL a b c",
	bytecode.TailCall: "TAILCALL a b c", bytecode.Return: "RETURN a b",
	bytecode.Closure: "CLOSURE a d", bytecode.Vararg: "VARARG a b", bytecode.Close: "CLOSE a",
	bytecode.ForPrep: "FORPREP a", bytecode.ForLoop: "FORLOOP a", bytecode.ForCall: "TFORLOOP a c",
}

// common returns an instruction in the common form.
func common(p *bytecode.Proto, i bytecode.Instr) instr {
	form := forms[i.Op()]
	if op := i.Op(); op >= bytecode.Add && op < bytecode.Unm {
		form = strings.ToUpper(opName(op-(op-bytecode.Add)%3)) +
			[]string{" a b c", " a b K", " a K c"}[(op-bytecode.Add)%3]
	}
	words := strings.Fields(form)
	in := instr{op: words[0]}
	for _, w := range words[1:] {
		s := ""
		switch w {
		case "a":
			s = fmt.Sprint(i.A())
		case "b":
			s = fmt.Sprint(i.B())
		case "c":
			s = fmt.Sprint(i.C())
		case "d":
			s = fmt.Sprint(i.D())
		case "K":
			s = constantText(p.Constants[i.D()])
		case "kb":
			s = constantText(p.Constants[i.B()])
		case "kc":
			s = constantText(p.Constants[i.C()])
		case "f":
			s = constantText(p.Constants[int(i.B())|int(i.C())<<8])
		case "n":
			s = fmt.Sprint("K", i.D())
		case "l":
			s = fmt.Sprint(i.D()/itemsPerFlush + 1)
		}
		in.args = append(in.args, s)
	}
	if in.op == "EQ" {
		sortOperands(in.args)
	}
	return in
}

// constantText writes a constant as luac does.
func constantText(k bytecode.Constant) string {
	switch k.Kind {
	case bytecode.Nil:
		return "Knil"
	case bytecode.False:
		return "Kfalse"
	case bytecode.True:
		return "Ktrue"
	case bytecode.Number:
		// as %.14g
		return "K" + formatNumber(k.Num)
	case bytecode.String:
		return "K" + quote(k.Str)
	}
	return "K<" + k.Str + ">"
}

// formatNumber writes a number as C's %.14g.
func formatNumber(n float64) string {
	s := strconv.FormatFloat(n, 'e', 13, 64)
	mantissa, exp, ok := strings.Cut(s, "e")
	if !ok {
		return strings.ToLower(strings.TrimPrefix(s, "+"))
	}
	if e := atoi(exp); e < -4 || e >= 14 {
		return trimZeros(mantissa) + "e" + exp
	}
	return trimZeros(strconv.FormatFloat(n, 'f', 13-atoi(exp), 64))
}

func trimZeros(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// quote writes a string as luac does.
func quote(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= 7 && c <= 13:
			b.WriteByte('\\')
			b.WriteByte("abtnvfr"[c-7])
		case c < 32 || c >= 127:
			fmt.Fprintf(&b, "\\%03d", c)
		default:
			b.WriteByte(c)
		}
	}
	return "\"" + b.String() + "\""
}
