package syntax

import (
	"math"
	"strconv"

	"github.com/yuin/gopher-lua/ast"
)

func (p *parser) exprList() []ast.Expr {
	list := []ast.Expr{p.expr()}
	for p.test(',') {
		p.full(len(list))
		list = append(list, p.expr())
	}
	return list
}

// priorities of binary operators, left and right.
func priority(k kind) (left, right int) {
	switch k {
	case tkOr:
		return 1, 1
	case tkAnd:
		return 2, 2
	case '<', '>', tkLe, tkGe, tkNe, tkEq:
		return 3, 3
	case tkConcat:
		return 5, 4
	case '+', '-':
		return 6, 6
	case '*', '/', '%':
		return 7, 7
	case '^':
		return 10, 9
	}
	return 0, 0
}

const unaryPriority = 8

func (p *parser) expr() ast.Expr { return p.subexpr(0) }

// subexpr parses an expression whose binary operators all bind stronger than limit.
func (p *parser) subexpr(limit int) ast.Expr {
	p.enter()
	e := p.operand()
	for n := 0; ; n++ {
		op := p.tok.kind
		left, right := priority(op)
		if left <= limit {
			break
		}
		if n > maxChain {
			p.fail("chunk has too many syntax levels", "")
		}
		p.next()
		e = p.binary(op, e, p.subexpr(right))
	}
	p.leave()
	return e
}

func (p *parser) operand() ast.Expr {
	switch op := p.tok.kind; op {
	case tkNot, '-', '#':
		p.next()
		p.spend(3, 0)
		return p.unary(op, p.subexpr(unaryPriority))
	}
	return p.simple()
}

func (p *parser) unary(op kind, e ast.Expr) ast.Expr {
	line := p.lastLine
	switch op {
	case tkNot:
		if is, ok := truth(e); ok && is {
			return at(ast.Expr(&ast.FalseExpr{}), line, line)
		} else if ok {
			return at(ast.Expr(&ast.TrueExpr{}), line, line)
		}
		return at(ast.Expr(&ast.UnaryNotOpExpr{Expr: e}), line, line)
	case '-':
		if n, ok := e.(*ast.NumberExpr); ok {
			if f, ok := ParseNumber(n.Value); ok && f != 0 {
				return at(ast.Expr(numberExpr(-f)), line, line)
			}
		}
		return at(ast.Expr(&ast.UnaryMinusOpExpr{Expr: e}), line, line)
	}
	single(e)
	length := at(&ast.StringExpr{Value: p.o.Length}, line, line)
	return at(ast.Expr(&ast.FuncCallExpr{Func: length, Args: []ast.Expr{e}, AdjustRet: true}), line, line)
}

func (p *parser) binary(op kind, a, b ast.Expr) ast.Expr {
	line := p.lastLine
	switch op {
	case tkAnd, tkOr:
		return p.logical(op, a, b, line)
	case tkConcat:
		p.spend(3, 0)
		return p.concat(a, b, line)
	case '+', '-', '*', '/', '%', '^':
		p.spend(1, 0)
		return at(ast.Expr(&ast.ArithmeticOpExpr{Operator: op.String(), Lhs: a, Rhs: b}), line, line)
	}
	p.spend(4, 1)
	return at(ast.Expr(&ast.RelationalOpExpr{Operator: op.String(), Lhs: a, Rhs: b}), line, line)
}

// concat is a .. b as a call. The operator is right-associative: b is either an operand or what follows a, which joins the same call.
func (p *parser) concat(a, b ast.Expr, line int) ast.Expr {
	call := &ast.FuncCallExpr{Func: at(&ast.StringExpr{Value: p.o.Concat}, line, line), Args: []ast.Expr{a, b}, AdjustRet: true}
	if c, ok := b.(*ast.FuncCallExpr); ok && p.isConcat(c) && len(c.Args) < maxOperands {
		call.Args = append([]ast.Expr{a}, c.Args...)
	} else {
		single(b)
	}
	return at(ast.Expr(call), line, line)
}

func (p *parser) isConcat(c *ast.FuncCallExpr) bool {
	s, ok := c.Func.(*ast.StringExpr)
	return ok && s.Value == p.o.Concat && c.LastLine() >= 0
}

// single makes the expression one value wherever it stands.
func single(e ast.Expr) {
	switch t := e.(type) {
	case *ast.FuncCallExpr:
		t.AdjustRet = true
	case *ast.Comma3Expr:
		t.AdjustRet = true
	}
}

// numberExpr is the number in a form that the compiler reads back exactly.
func numberExpr(n float64) *ast.NumberExpr {
	s := strconv.FormatFloat(n, 'e', -1, 64)
	if n == math.Trunc(n) && math.Abs(n) < 1<<53 && !(n == 0 && math.Signbit(n)) {
		s = strconv.FormatInt(int64(n), 10)
	}
	return &ast.NumberExpr{Value: s}
}

func (p *parser) simple() ast.Expr {
	line := p.line
	p.spend(1, 0)
	var e ast.Expr
	switch p.tok.kind {
	case tkNumber:
		e = p.numberConstant(p.tok.num, line)
	case tkString:
		e = p.stringConstant(p.tok.str, line)
	case tkNil:
		e = &ast.NilExpr{}
	case tkTrue:
		e = &ast.TrueExpr{}
	case tkFalse:
		e = &ast.FalseExpr{}
	case tkDots:
		if !p.fn.vararg {
			p.syntaxError("cannot use '...' outside a vararg function")
		}
		e = &ast.Comma3Expr{}
	case '{':
		return p.table()
	case tkFunction:
		p.next()
		return p.functionBody(false, line)
	default:
		return p.suffixed(false)
	}
	p.next()
	return at(e, line, line)
}

// variable is a reference to a variable; target tells that it may be assigned to.
func (p *parser) variable(name string, target bool) ast.Expr {
	line := p.lastLine
	p.spend(1, 0)
	if u, ok := p.resolve(name); ok {
		return at(ast.Expr(&ast.IdentExpr{Value: u}), line, line)
	}
	p.listed(name)
	if target {
		return at(ast.Expr(&ast.IdentExpr{Value: p.o.Global + name}), line, line)
	}
	return p.global(name)
}

func (p *parser) global(name string) ast.Expr {
	line := p.lastLine
	if c := p.constant(name, ""); c != "" {
		if p.constants == nil {
			p.constants = map[string]string{}
		}
		p.constants[c] = name
		return at(ast.Expr(&ast.StringExpr{Value: c}), line, line)
	}
	if p.inMain() {
		name += "\x00"
	}
	return at(ast.Expr(&ast.IdentExpr{Value: name}), line, line)
}

// inMain reports whether Main decides about globals here.
func (p *parser) inMain() bool { return p.o.Main != nil && p.fn.outer == nil }

func (p *parser) constant(name, field string) string {
	if p.inMain() {
		return p.o.Main(name, field)
	}
	return p.o.Constant(name, field)
}

// primary parses a name or an expression in parentheses. With stmt it begins a statement: a name that = or a comma follows is assigned to.
func (p *parser) primary(stmt bool) ast.Expr {
	line := p.line
	switch p.tok.kind {
	case '(':
		p.next()
		e := p.expr()
		p.closing(')', '(', line)
		single(e)
		switch e.(type) {
		case *ast.IdentExpr, *ast.AttrGetExpr, *ast.StringExpr:
			return &paren{e}
		}
		return e
	case tkName:
		name := p.ident()
		if stmt && (p.tok.kind == '=' || p.tok.kind == ',') {
			return p.variable(name, true)
		}
		if p.tok.kind == '.' && p.peek() == tkName {
			if _, ok := p.resolve(name); !ok {
				if c := p.constant(name, p.ahead.str); c != "" && !p.assigns(stmt) {
					p.next()
					p.next()
					return at(ast.Expr(&ast.StringExpr{Value: c}), p.lastLine, p.lastLine)
				}
			}
		}
		return p.variable(name, false)
	}
	p.syntaxError("unexpected symbol")
	return nil
}

// assigns reports whether the field that is looked at is assigned to: then its table has to be there, to refuse it. Only a statement can, and
// only when the character behind the name is an equal sign or a comma.
func (p *parser) assigns(stmt bool) bool {
	if !stmt {
		return false
	}
	for i := p.pos; i < len(p.src); i++ {
		switch c := p.src[i]; c {
		case ' ', '\t', '\r', '\n':
			continue
		default:
			return c == '=' || c == ',' || c == '-'
		}
	}
	return false
}

// paren marks an expression in parentheses, which is a value and cannot be assigned to. It never leaves the parser.
type paren struct{ ast.Expr }

func plain(e ast.Expr) ast.Expr {
	if w, ok := e.(*paren); ok {
		return w.Expr
	}
	return e
}

// suffixed parses a primary expression with its indexes and calls.
func (p *parser) suffixed(stmt bool) ast.Expr {
	e := p.primary(stmt)
	for n := 0; ; n++ {
		if n > maxChain {
			p.fail("chunk has too many syntax levels", "")
		}
		p.spend(2, 0)
		switch p.tok.kind {
		case '.':
			p.next()
			name, line := p.ident(), p.lastLine
			key := p.stringConstant(name, line)
			e = at(ast.Expr(&ast.AttrGetExpr{Object: plain(e), Key: key}), line, line)
		case '[':
			p.next()
			key := p.key(p.expr())
			p.skip(']')
			e = at(ast.Expr(&ast.AttrGetExpr{Object: plain(e), Key: key}), p.lastLine, p.lastLine)
		case ':':
			p.next()
			name := p.ident()
			p.listed(name)
			e = p.call(&ast.FuncCallExpr{Receiver: plain(e), Method: name})
		case '(', tkString, '{':
			e = p.call(&ast.FuncCallExpr{Func: plain(e)})
		default:
			if stmt {
				return e
			}
			return plain(e)
		}
	}
}

func (p *parser) call(c *ast.FuncCallExpr) ast.Expr {
	line := p.line
	switch p.tok.kind {
	case tkString:
		c.Args = []ast.Expr{p.stringConstant(p.tok.str, line)}
		p.next()
	case '{':
		c.Args = []ast.Expr{p.table()}
	case '(':
		if line != p.lastLine {
			p.syntaxError("ambiguous syntax (function call x new statement)")
		}
		p.next()
		if p.tok.kind != ')' {
			c.Args = p.spread(p.exprList(), line)
		}
		p.closing(')', '(', line)
	default:
		p.syntaxError("function arguments expected")
	}
	return at(ast.Expr(c), line, line)
}

func (p *parser) table() ast.Expr {
	line := p.line
	t := at(&ast.TableExpr{}, line, line)
	parts := []*ast.TableExpr{t}
	items := 0
	p.skip('{')
	for p.tok.kind != '}' {
		f := &ast.Field{}
		p.spend(2, 0)
		switch {
		case p.tok.kind == tkName && p.peek() == '=':
			f.Key = p.stringConstant(p.ident(), p.line)
			p.next()
		case p.tok.kind == '[':
			p.next()
			f.Key = p.key(p.expr())
			p.skip(']')
			p.skip('=')
		}
		f.Value = p.expr()
		if f.Key == nil {
			if items++; items > maxItems {
				t, items = at(&ast.TableExpr{}, p.line, p.line), 1
				parts = append(parts, t)
			}
		} else if len(parts) > 1 {
			p.syntaxError("constructor too long")
		}
		t.Fields = append(t.Fields, f)
		if !p.test(',') && !p.test(';') {
			break
		}
	}
	p.closing('}', '{', line)
	at(parts[0], line, p.lastLine)
	return p.assembled(parts, line)
}

func (p *parser) functionBody(method bool, line int) ast.Expr {
	if p.functions++; p.functions > maxFunctions {
		panic(&Error{"constant table overflow"})
	}
	f := &function{outer: p.fn, line: line}
	p.fn = f
	par := &ast.ParList{Names: []string{}}
	var names []string
	if method {
		names = append(names, "self")
	}
	p.skip('(')
	for p.tok.kind != ')' {
		if p.test(tkDots) {
			par.HasVargs, f.vararg, f.hasArg = true, true, true
			break
		}
		if p.tok.kind != tkName {
			p.syntaxError("<name> or '...' expected")
		}
		names = append(names, p.ident())
		if !p.test(',') {
			break
		}
		if p.tok.kind == ')' {
			p.syntaxError("<name> or '...' expected")
		}
	}
	for _, n := range names {
		par.Names = append(par.Names, p.unique(n))
	}
	p.declare(names, par.Names)
	p.skip(')')
	e := &ast.FunctionExpr{ParList: par, Stmts: p.block()}
	at(e, line, p.line)
	p.closing(tkEnd, tkFunction, line)
	p.fn = f.outer
	p.spend(1+len(f.upvalues), 0)
	return e
}
