package syntax

import (
	"strings"

	"github.com/yuin/gopher-lua/ast"
)

func (p *parser) statement() (s ast.Stmt, last bool) {
	line := p.line
	p.spend(4, 0)
	switch p.tok.kind {
	case tkIf:
		s = p.ifStmt()
	case tkWhile:
		p.next()
		from := p.fn.usage.size
		st := &ast.WhileStmt{Condition: p.condition()}
		p.skip(tkDo)
		st.Stmts = p.loop(tkWhile, line, from)
		s = st
	case tkDo:
		p.next()
		p.fn.first = true
		st := &ast.DoBlockStmt{Stmts: p.scope()}
		p.closing(tkEnd, tkDo, line)
		s = st
	case tkFor:
		s = p.forStmt(line)
	case tkRepeat:
		s = p.repeatStmt(line)
	case tkFunction:
		s = p.functionStmt(line)
	case tkLocal:
		p.next()
		if p.test(tkFunction) {
			s = p.localFunction()
		} else {
			s = p.localStmt()
		}
	case tkReturn:
		p.next()
		st := &ast.ReturnStmt{}
		if !blockEnds(p.tok.kind) && p.tok.kind != ';' {
			st.Exprs = p.spread(p.exprList(), line)
		}
		return at(ast.Stmt(st), p.lastLine, p.lastLine), true
	case tkBreak:
		p.next()
		if p.fn.loops == 0 {
			p.syntaxError("no loop to break")
		}
		return at(ast.Stmt(&ast.BreakStmt{}), line, line), true
	default:
		return p.exprStmt(), false
	}
	return at(s, line, p.lastLine), false
}

// loop parses the body of a while or for, and its end.
func (p *parser) loop(open kind, line, from int) []ast.Stmt {
	p.spend(6, 4)
	p.fn.first = true
	p.fn.loops++
	s := p.scope()
	p.fn.loops--
	p.spans(from)
	p.closing(tkEnd, open, line)
	return s
}

func (p *parser) ifStmt() ast.Stmt {
	line := p.line
	from := p.fn.usage.size
	first := &ast.IfStmt{}
	st := first
	for n := 0; ; n++ {
		if n > maxChain {
			p.syntaxError("control structure too long")
		}
		at := p.line
		p.next() // if or elseif
		st.Condition = p.condition()
		p.spend(2, 3)
		st.SetLine(at)
		p.skip(tkThen)
		st.Then = p.scope()
		if p.tok.kind != tkElseif {
			break
		}
		inner := &ast.IfStmt{}
		st.Else = []ast.Stmt{inner}
		st = inner
	}
	if p.test(tkElse) {
		st.Else = p.scope()
	}
	p.closing(tkEnd, tkIf, line)
	p.spans(from)
	return first
}

func (p *parser) repeatStmt(line int) ast.Stmt {
	p.next()
	n, from := len(p.fn.locals), p.fn.usage.size
	p.spend(8, 4)
	p.fn.first = true
	p.fn.loops++
	st := &ast.RepeatStmt{Stmts: p.block()}
	p.fn.loops--
	p.closing(tkUntil, tkRepeat, line)
	st.Condition = p.condition() // it sees the block's variables
	p.spans(from)
	p.fn.locals = p.fn.locals[:n]
	return st
}

func (p *parser) forStmt(line int) ast.Stmt {
	p.next()
	names := []string{p.ident()}
	scope := len(p.fn.locals)
	var st ast.Stmt
	switch p.tok.kind {
	case '=':
		st = p.numericFor(names[0], line)
	case ',', tkIn:
		st = p.genericFor(names, line)
	default:
		p.syntaxError("'=' or 'in' expected")
	}
	p.fn.locals = p.fn.locals[:scope]
	return st
}

// numericFor parses a for over numbers, from its equal sign.
func (p *parser) numericFor(name string, line int) ast.Stmt {
	p.next()
	st := &ast.NumberForStmt{Init: p.coerced(p.expr())}
	p.skip(',')
	st.Limit = p.coerced(p.expr())
	if p.test(',') {
		st.Step = p.coerced(p.expr())
	}
	p.skip(tkDo)
	st.Name = p.unique(name)
	p.declare([]string{"(for index)", "(for limit)", "(for step)", name},
		[]string{"", "", "", st.Name})
	st.Stmts = p.loop(tkFor, line, p.fn.usage.size)
	return st
}

// genericFor parses a for over an iterator. Its first name has been read.
func (p *parser) genericFor(names []string, line int) ast.Stmt {
	for p.test(',') {
		names = append(names, p.ident())
	}
	p.skip(tkIn)
	st := &ast.GenericForStmt{Exprs: p.exprList()}
	p.skip(tkDo)
	for _, n := range names {
		st.Names = append(st.Names, p.unique(n))
	}
	p.declare([]string{"(for generator)", "(for state)", "(for control)"}, []string{"", "", ""})
	p.declare(names, st.Names)
	st.Stmts = p.loop(tkFor, line, p.fn.usage.size)
	return st
}

// coerced converts a bound of a numeric for if it is a string literal. The machine wants numbers;
// Lua converts at run time.
func (p *parser) coerced(e ast.Expr) ast.Expr {
	if s, ok := e.(*ast.StringExpr); ok {
		if n, ok := ParseNumber(s.Value); ok {
			return at(numberExpr(n), s.Line(), s.LastLine())
		}
	}
	return e
}

func (p *parser) functionStmt(line int) ast.Stmt {
	p.next()
	target := p.variable(p.ident(), true)
	method := false
	for p.tok.kind == '.' || p.tok.kind == ':' {
		method = p.tok.kind == ':'
		if id, ok := target.(*ast.IdentExpr); ok && strings.HasPrefix(id.Value, p.o.Global) {
			target = at(ast.Expr(&ast.IdentExpr{Value: strings.TrimPrefix(id.Value, p.o.Global)}),
				id.Line(), id.LastLine())
		}
		p.next()
		key := p.stringConstant(p.ident(), p.lastLine)
		target = at(&ast.AttrGetExpr{Object: target, Key: key}, p.lastLine, p.lastLine)
		if method {
			break
		}
	}
	body := p.functionBody(method, line)
	return &ast.AssignStmt{Lhs: []ast.Expr{target}, Rhs: []ast.Expr{body}}
}

func (p *parser) localFunction() ast.Stmt {
	name := p.ident()
	st := &ast.LocalAssignStmt{Names: []string{p.unique(name)}}
	p.declare([]string{name}, st.Names)
	st.Exprs = []ast.Expr{p.functionBody(false, p.line)}
	return st
}

func (p *parser) localStmt() ast.Stmt {
	st := &ast.LocalAssignStmt{}
	var names []string
	for {
		names = append(names, p.ident())
		p.limit(len(p.fn.locals)+len(names), maxLocals, "local variables")
		st.Names = append(st.Names, p.unique(names[len(names)-1]))
		if !p.test(',') {
			break
		}
	}
	if p.test('=') {
		st.Exprs = p.exprList()
	} else {
		st.Exprs = []ast.Expr{}
	}
	p.declare(names, st.Names)
	return st
}

// inRegister wraps a constant whose field is assigned to a variable or the result of a call,
// because the compiler wants it in a register.
func (p *parser) inRegister(e ast.Expr) ast.Expr {
	switch t := e.(type) {
	case *ast.StringExpr:
		if name := p.constants[t.Value]; name != "" {
			return at(ast.Expr(&ast.IdentExpr{Value: name}), t.Line(), t.LastLine())
		}
	case *ast.NumberExpr:
	default:
		return e
	}
	return at(ast.Expr(&ast.FuncCallExpr{Func: &ast.StringExpr{Value: p.o.Concat},
		Args: []ast.Expr{e}, AdjustRet: true}), e.Line(), e.LastLine())
}

// key returns an expression that indexes a table. The compiler takes a constant literally, so a
// string that stands for something else goes through a call.
func (p *parser) key(e ast.Expr) ast.Expr {
	s, ok := e.(*ast.StringExpr)
	if !ok || p.o.Concat == "" ||
		!strings.HasPrefix(s.Value, strings.TrimSuffix(p.o.Concat, "..")) {
		return e
	}
	call := host(p.o.Concat, e.Line(), e)
	call.AdjustRet = true
	return call
}

func (p *parser) exprStmt() ast.Stmt {
	line := p.line
	e := p.suffixed(true)
	if call, ok := e.(*ast.FuncCallExpr); ok && !call.AdjustRet {
		return at(ast.Stmt(&ast.FuncCallStmt{Expr: e}), line, p.lastLine)
	}
	st := &ast.AssignStmt{}
	for n := 0; ; n++ {
		p.limit(n, maxLevels-p.level, "variables in assignment")
		switch t := e.(type) {
		case *ast.IdentExpr:
			st.Lhs = append(st.Lhs, e)
		case *ast.AttrGetExpr:
			t.Object = p.inRegister(t.Object)
			st.Lhs = append(st.Lhs, e)
		case *ast.StringExpr: // it stands for a global
			st.Lhs = append(st.Lhs,
				at(ast.Expr(&ast.IdentExpr{Value: p.o.Global}), t.Line(), t.LastLine()))
		default:
			p.syntaxError("syntax error")
		}
		if !p.test(',') {
			break
		}
		e = p.suffixed(true)
	}
	p.skip('=')
	st.Rhs = p.exprList()
	if len(st.Lhs) > 1 {
		return p.parallel(st, line)
	}
	return at(ast.Stmt(st), line, p.lastLine)
}
