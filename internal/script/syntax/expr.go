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

const unaryPriority = 8

func (p *parser) expr() ast.Expr { return p.subexpr(0) }

// numberExpr writes the number in a form that the compiler reads back exactly.
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

// variable returns a reference to a variable. target says that it may be assigned to.
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

// inMain reports whether Options.Main decides about globals here.
func (p *parser) inMain() bool { return p.o.Main != nil && p.fn.outer == nil }

func (p *parser) constant(name, field string) string {
	if p.inMain() {
		return p.o.Main(name, field)
	}
	return p.o.Constant(name, field)
}

// primary parses a name or an expression in parentheses. stmt says that it begins a statement. Then
// a name followed by = or a comma is assigned to.
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

// assigns reports whether the field being looked at is assigned to. Then its table must exist, to
// refuse the assignment. Only a statement can assign, and only if the token after the name is an
// equal sign or a comma.
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

// paren marks an expression in parentheses. It is a value and cannot be assigned to. It never
// leaves the parser.
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
