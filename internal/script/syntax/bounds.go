package syntax

import (
	"strconv"

	"github.com/yuin/gopher-lua/ast"
)

// This file counts what the compiler behind the parser cannot encode and does not notice.
//
// A jump reaches maxJump instructions, and a function can have as many labels: beyond that, the
// compiler writes wrong jumps. It searches for each constant from the first one on, which takes
// hours for what Lua allows. A list of values needs one register for each. A table's constructor
// loses count after 511 times 50 elements. And a jump back to a jump goes astray.
//
// The parser therefore counts what it makes. The count is an upper bound, so Redis may accept a few
// scripts that are refused here for their length. Constants beyond the first maxDirect of a
// function are kept in a table, long lists are made by calls, and no loop begins with a jump.

const (
	maxJump      = 1<<17 - 1
	maxLabels    = maxJump - 16
	maxConstants = 1<<18 - 1 // of one function, as in Lua
	maxDirect    = 512       // of one function in the compiler's own list
	maxNames     = 16 << 10  // that must be in that list
	maxStack     = 250       // values on the stack of a Lua function
	longList     = 64        // values that are put on the stack one by one
	maxItems     = 25000     // of one table constructor
	maxParts     = 40        // of a table that is assembled
	poolRow      = 512       // constants in one row of Result.Pool
	direct       = -1        // the place of constants outside of the pool
)

// The compiler's tree and its buffers take memory that a short source does not show. maxFunctions
// and maxSize bound it.
const (
	maxFunctions = 8 << 10 // of one chunk: the compiler starts each with 12 KiB
	maxSize      = 4 << 20 // upper bound on the instructions of one chunk
)

// usage counts what a function uses.
type usage struct {
	size      int // upper bound on its instructions
	labels    int
	names     int
	constants map[literal]int // their places in the pool, or direct
}

// literal identifies a constant of the source, or the name of a global or method.
type literal struct {
	kind byte // 'n', 's' or '.' for a name
	text string
}

// spend counts instructions and labels of the function being parsed.
func (p *parser) spend(instructions, labels int) {
	u := &p.fn.usage
	u.size += instructions
	if p.size += instructions; p.size > maxSize {
		p.syntaxError("script too long")
	}
	if u.labels += labels; u.labels > maxLabels {
		p.syntaxError("control structure too long")
	}
}

// spans records that a jump may cross everything since the function had the size from. Whether that
// is too far shows only when the function's true size is known.
func (p *parser) spans(from int) {
	if p.fn.usage.size-from > maxJump && p.tooLong == nil {
		p.tooLong = &Error{p.message("control structure too long", p.tok.text())}
	}
}

// listed counts a constant that must be in the compiler's list.
func (p *parser) listed(name string) {
	u := &p.fn.usage
	if _, ok := u.constants[literal{'.', name}]; ok {
		return
	}
	if u.names++; u.names > maxNames {
		panic(&Error{"constant table overflow"})
	}
	u.put(literal{'.', name}, direct)
}

func (u *usage) put(l literal, place int) {
	if u.constants == nil {
		u.constants = map[literal]int{}
	}
	u.constants[l] = place
}

// constantExpr returns the expression for a number or string of the source, identified by l.
func (p *parser) constantExpr(e ast.Expr, l literal, line int) ast.Expr {
	at(e, line, line)
	u := &p.fn.usage
	place, ok := u.constants[l]
	if !ok {
		place = p.newConstant(e, l)
	}
	if place == direct {
		return e
	}
	p.spend(3, 0)
	index := func(of ast.Expr, n int) ast.Expr {
		i := at(&ast.NumberExpr{Value: strconv.Itoa(n + 1)}, line, line)
		return at(ast.Expr(&ast.AttrGetExpr{Object: of, Key: i}), line, line)
	}
	pool := at(ast.Expr(&ast.StringExpr{Value: p.o.Pool}), line, line)
	return index(index(pool, place/poolRow), place%poolRow)
}

// newConstant decides where a constant is kept.
func (p *parser) newConstant(e ast.Expr, l literal) (place int) {
	u := &p.fn.usage
	place = direct
	if n := len(u.constants); n >= maxConstants {
		panic(&Error{"constant table overflow"})
	} else if n >= maxDirect {
		place = len(p.pool)
		p.pool = append(p.pool, e)
	}
	u.put(l, place)
	return place
}

func (p *parser) numberConstant(n float64, line int) ast.Expr {
	e := numberExpr(n)
	return p.constantExpr(e, literal{'n', e.Value}, line)
}

func (p *parser) stringConstant(s string, line int) ast.Expr {
	return p.constantExpr(&ast.StringExpr{Value: s}, literal{'s', s}, line)
}

// Place returns where constant number i of Result.Pool must be in the table behind Options.Pool.
func Place(i int) (row, column int) { return i/poolRow + 1, i%poolRow + 1 }

// full fails if a list exceeds the stack of a Lua function. n values are on it already.
func (p *parser) full(n int) {
	if len(p.fn.locals)+n >= maxStack {
		p.syntaxError("function or expression too complex")
	}
}

// host returns a call of a function of the host.
func host(name string, line int, args ...ast.Expr) *ast.FuncCallExpr {
	return at(&ast.FuncCallExpr{Func: at(&ast.StringExpr{Value: name}, line, line), Args: args},
		line, line)
}

// spread shortens a long list: all beyond its beginning becomes the results of one call.
func (p *parser) spread(list []ast.Expr, line int) []ast.Expr {
	if len(list) <= longList {
		return list
	}
	const keep = longList / 2
	rest := list[keep:]
	last := rest[len(rest)-1]
	t := at(&ast.TableExpr{}, line, line)
	for _, e := range rest {
		t.Fields = append(t.Fields, &ast.Field{Value: e})
	}
	n := len(rest)
	args := []ast.Expr{nil, t}
	if isMulti(last) {
		n--
		t.Fields = t.Fields[:n]
		args = append(args, last)
	}
	args[0] = at(ast.Expr(numberExpr(float64(n))), line, line)
	p.spend(6, 0)
	return append(list[:keep:keep], host(p.o.Spread, line, args...))
}

// isMulti reports whether an expression at the end of a list stands for any number of values.
func isMulti(e ast.Expr) bool {
	switch t := e.(type) {
	case *ast.FuncCallExpr:
		return !t.AdjustRet
	case *ast.Comma3Expr:
		return !t.AdjustRet
	}
	return false
}

// assembled returns a table that is put together from the tables of its constructor's parts.
func (p *parser) assembled(parts []*ast.TableExpr, line int) ast.Expr {
	e := ast.Expr(parts[0])
	for i := 1; i < len(parts); {
		args := []ast.Expr{e}
		for ; i < len(parts) && len(args) < maxParts; i++ {
			offset := numberExpr(float64(i * maxItems))
			args = append(args, at(ast.Expr(offset), line, line), parts[i])
		}
		call := host(p.o.Append, line, args...)
		call.AdjustRet = true
		e = call
	}
	return e
}

// truth returns the truth value of a constant. ok is false for other expressions.
func truth(e ast.Expr) (is, ok bool) {
	switch e.(type) {
	case *ast.TrueExpr, *ast.NumberExpr, *ast.StringExpr:
		return true, true
	case *ast.FalseExpr, *ast.NilExpr:
		return false, true
	}
	return false, false
}

// logical returns "a and b" or "a or b". If the first operand is constant, the result is one of the
// operands.
func (p *parser) logical(op kind, a, b ast.Expr, line int) ast.Expr {
	if is, ok := truth(a); ok {
		if is == (op == tkOr) {
			return a
		}
		single(b)
		return b
	}
	p.spend(4, 5)
	return at(ast.Expr(&ast.LogicalOpExpr{Operator: op.String(), Lhs: a, Rhs: b}), line, line)
}

// condition parses an expression that a jump depends on. For a constant that is false the compiler
// makes nothing but the jump.
func (p *parser) condition() ast.Expr {
	e := p.expr()
	p.spend(2, 0)
	if is, ok := truth(e); ok && !is {
		yes := at(ast.Expr(&ast.TrueExpr{}), e.Line(), e.Line())
		return at(&ast.UnaryNotOpExpr{Expr: yes}, e.Line(), e.Line())
	}
	return e
}
