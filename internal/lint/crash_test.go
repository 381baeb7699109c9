package lint

import (
	"go/ast"
	"go/token"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGoroutinesAreGuarded looks for goroutines without a report: each must begin with
// defer crash.Guard(…)(), so that a panic on it is logged. It also looks for a deferred Leave,
// which would give the executor back after a panic.
func TestGoroutinesAreGuarded(t *testing.T) {
	var files []*ast.File
	bodies := map[string][]*ast.BlockStmt{} // by the function's name
	fset := token.NewFileSet()
	walkTree(t, func(rel, text string) {
		if !program(rel) {
			return
		}
		f := parse(t, fset, rel, text, 0)
		if f.Name.Name == "testserver" {
			return // a part of the tests: they report their panics themselves
		}
		files = append(files, f)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				bodies[fn.Name.Name] = append(bodies[fn.Name.Name], fn.Body)
			}
		}
	}, "internal", "cmd")
	started := 0
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if d, ok := n.(*ast.DeferStmt); ok && nameOf(d.Call.Fun) == "Leave" {
				t.Errorf("%s: defer Leave: use Release", fset.Position(n.Pos()))
			}
			fn := goroutine(n)
			if fn == nil {
				return true
			}
			started++
			if !guarded(fn, bodies) {
				t.Errorf("%s: a goroutine without defer crash.Guard(…)()", fset.Position(n.Pos()))
			}
			return true
		})
	}
	require.NotZero(t, started)
}

// goroutine returns the function that the node starts a goroutine with, nil if it starts none.
func goroutine(n ast.Node) ast.Expr {
	switch n := n.(type) {
	case *ast.GoStmt:
		return n.Call.Fun
	case *ast.CallExpr:
		if nameOf(n.Fun) == "Go" && len(n.Args) == 1 {
			return n.Args[0] // of a sync.WaitGroup
		}
	}
	return nil
}

// nameOf returns the last name of a call's function.
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// guarded reports whether fn begins with a guard. A named function passes if any function of that
// name does.
func guarded(fn ast.Expr, bodies map[string][]*ast.BlockStmt) bool {
	list := bodies[nameOf(fn)]
	if lit, ok := fn.(*ast.FuncLit); ok {
		list = []*ast.BlockStmt{lit.Body}
	}
	return slices.ContainsFunc(list, func(body *ast.BlockStmt) bool { return begins(body, bodies) })
}

// begins reports whether the first statement defers a guard or calls a function that does.
func begins(body *ast.BlockStmt, bodies map[string][]*ast.BlockStmt) bool {
	if len(body.List) == 0 {
		return false
	}
	switch first := body.List[0].(type) {
	case *ast.DeferStmt:
		inner, ok := first.Call.Fun.(*ast.CallExpr)
		return ok && nameOf(inner.Fun) == "Guard"
	case *ast.AssignStmt:
		if len(first.Rhs) == 1 {
			call, ok := first.Rhs[0].(*ast.CallExpr)
			return ok && guarded(call.Fun, bodies)
		}
	}
	return false
}
