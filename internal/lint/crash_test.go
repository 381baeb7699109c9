package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGoroutinesAreGuarded: a panic on any goroutine leaves a report, because its function begins
// with defer crash.Guard(…)(). And no deferred Leave gives the executor back after a panic.
func TestGoroutinesAreGuarded(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	var files []*ast.File
	bodies := map[string][]*ast.BlockStmt{} // by the function's name
	fset := token.NewFileSet()
	for _, dir := range []string{"internal", "cmd"} {
		err = filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(fset, path, nil, 0)
			if err != nil {
				return err
			}
			if f.Name.Name == "testserver" {
				return nil // a part of the tests: they report their panics themselves
			}
			files = append(files, f)
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
					bodies[fn.Name.Name] = append(bodies[fn.Name.Name], fn.Body)
				}
			}
			return nil
		})
		require.NoError(t, err)
	}
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

// goroutine returns what the node starts a goroutine with, nil if it starts none.
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

// guarded reports whether the function, or one of its name, begins with a guard; it may do so by
// calling one that does.
func guarded(fn ast.Expr, bodies map[string][]*ast.BlockStmt) bool {
	list := bodies[nameOf(fn)]
	if lit, ok := fn.(*ast.FuncLit); ok {
		list = []*ast.BlockStmt{lit.Body}
	}
	return slices.ContainsFunc(list, func(body *ast.BlockStmt) bool { return begins(body, bodies) })
}

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
