package syntax

import "github.com/yuin/gopher-lua/ast"

// parallel rewrites an assignment to several targets. The compiler assigns to a local variable
// before it evaluates the next expression, so a, b = b, a would lose a value. The result first
// evaluates all tables, keys and values into variables of a block. Then it assigns to the targets,
// the last one first, as Lua does.
func (p *parser) parallel(st *ast.AssignStmt, line int) ast.Stmt {
	last := p.lastLine
	p.spend(4*len(st.Lhs), 0)
	block := at(&ast.DoBlockStmt{}, line, last)
	keep := func(e ast.Expr) ast.Expr {
		single(e)
		name := p.unique("")
		block.Stmts = append(block.Stmts, at(ast.Stmt(&ast.LocalAssignStmt{
			Names: []string{name}, Exprs: []ast.Expr{e},
		}), line, last))
		return at(ast.Expr(&ast.IdentExpr{Value: name}), line, last)
	}
	for _, e := range st.Lhs {
		t, ok := e.(*ast.AttrGetExpr)
		if !ok {
			continue
		}
		t.Object = keep(t.Object)
		switch t.Key.(type) {
		case *ast.StringExpr, *ast.NumberExpr:
		default:
			t.Key = keep(t.Key)
		}
	}
	values := &ast.LocalAssignStmt{Exprs: st.Rhs}
	for range st.Lhs {
		values.Names = append(values.Names, p.unique(""))
	}
	block.Stmts = append(block.Stmts, at(ast.Stmt(values), line, last))
	for i := len(st.Lhs) - 1; i >= 0; i-- {
		value := at(ast.Expr(&ast.IdentExpr{Value: values.Names[i]}), line, last)
		assign := &ast.AssignStmt{Lhs: st.Lhs[i : i+1], Rhs: []ast.Expr{value}}
		block.Stmts = append(block.Stmts, at(ast.Stmt(assign), line, last))
	}
	return block
}
