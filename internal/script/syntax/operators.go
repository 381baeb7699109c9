package syntax

import "github.com/yuin/gopher-lua/ast"

// priority returns the left and right priority of a binary operator.
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
	return at(ast.Expr(&ast.FuncCallExpr{Func: length, Args: []ast.Expr{e}, AdjustRet: true}), line,
		line)
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
		return at(ast.Expr(&ast.ArithmeticOpExpr{Operator: op.String(), Lhs: a, Rhs: b}), line,
			line)
	}
	p.spend(4, 1)
	return at(ast.Expr(&ast.RelationalOpExpr{Operator: op.String(), Lhs: a, Rhs: b}), line, line)
}

// concat returns a .. b as a call. The operator is right-associative: b is an operand, or a call
// that concatenates what follows a, and then a joins that call.
func (p *parser) concat(a, b ast.Expr, line int) ast.Expr {
	call := &ast.FuncCallExpr{Func: at(&ast.StringExpr{Value: p.o.Concat}, line, line),
		Args: []ast.Expr{a, b}, AdjustRet: true}
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

// single marks an expression so that it yields one value wherever it stands.
func single(e ast.Expr) {
	switch t := e.(type) {
	case *ast.FuncCallExpr:
		t.AdjustRet = true
	case *ast.Comma3Expr:
		t.AdjustRet = true
	}
}
