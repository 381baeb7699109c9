package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// typeChoices are the functions outside of a type's own files that may name more than one data
// type. Each is of a command that takes just these and passes over the rest, or says WRONGTYPE.
var typeChoices = map[string]string{
	"internal/command/zset_ops.go: parse":            "ZUNION and its like take sets too",
	"internal/command/sort_pattern.go: patternValue": "BY and GET read strings and hashes",
}

// recordFile reports whether the file says what a data type is in RDB files. Such a file may name
// its type as it likes.
func recordFile(path string) bool {
	dir, name := filepath.Split(path)
	record := strings.HasPrefix(name, "type_") || strings.HasPrefix(name, "module_")
	return dir == "internal/persist/rdb/" && record
}

// TestTypesAreOneThing checks that what a data type can do hangs on object.Description and
// rdb.Type. No other function tells types apart, whether by a switch, a chain of ifs or a table: a
// new type would have to be added there. A handler may ask for the type that its command is for.
func TestTypesAreOneThing(t *testing.T) {
	types := typeNames(t, filepath.Join(treeRoot, "internal/object"))
	require.Contains(t, types, "Hash")
	require.Contains(t, types, "TypeTDigest")
	used := map[string]bool{}
	walkTree(t, func(rel, text string) {
		if !program(rel) || recordFile(rel) {
			return
		}
		f := parse(t, token.NewFileSet(), rel, text, 0)
		for name, told := range tellsApart(f, types) {
			if where := rel + ": " + name; typeChoices[where] != "" {
				used[where] = true
			} else {
				t.Errorf("%s: %v: this belongs to object.Description or rdb.Type", where, told)
			}
		}
	}, "internal", "cmd")
	require.Len(t, used, len(typeChoices), "exceptions that nothing needs")
}

// TestTypeSwitchesAreFound checks that the test above sees a switch, a chain and a table, and no
// more, both in package object and elsewhere.
func TestTypeSwitchesAreFound(t *testing.T) {
	types := []string{"List", "Hash"}
	for src, found := range map[string]bool{
		"switch e.Type() {\ncase object.Hash:\n}":                              true,
		"switch {\ncase e.Type() == object.List:\ncase t == object.Hash:\n}":   true,
		"if t == object.List { a() } else if t == object.Hash { b() }":         true,
		"_ = map[object.Type]int{object.List: 1, object.Hash: 2}":              true,
		"_ = [...]int{object.List: 1}":                                         true,
		"if e.Type() != object.List { wrong() }":                               false,
		"x := open(object.List); y := create(object.Hash)":                     false,
		"switch e.Encoding() {\ncase object.EncQuicklist:\n}":                  false,
		"if e.Type() == object.List && other.Type() == object.List { both() }": false,
		"_ = funcs{Hash: f, List: g}":                                          false,
	} {
		src = "package p\nfunc f() {\n" + src + "\n}"
		own := strings.ReplaceAll(strings.Replace(src, "package p", "package object", 1),
			"object.", "")
		for _, src := range []string{src, own} {
			f, err := parser.ParseFile(token.NewFileSet(), "x.go", src, 0)
			require.NoError(t, err, src)
			require.Equal(t, found, len(tellsApart(f, types)) == 1, src)
		}
	}
}

// typeNames returns the constants of object.Type.
func typeNames(t *testing.T, dir string) (names []string) {
	pkgs, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	for _, path := range pkgs {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && nameOf(v.Type) == "Type" {
				for _, id := range v.Names {
					names = append(names, id.Name)
				}
			}
			return true
		})
	}
	return names
}

// tellsApart returns the functions of a file that tell types apart, with the types that they name:
// in comparisons two different ones, in a case or as a key of a table a single one. What stands
// outside of functions goes by the name of its file.
func tellsApart(f *ast.File, types []string) map[string][]string {
	found := map[string][]string{}
	for _, d := range f.Decls {
		name := "a variable"
		if fn, ok := d.(*ast.FuncDecl); ok {
			name = fn.Name.Name
		}
		var compared, listed []string
		note := func(to *[]string, list ...ast.Expr) {
			for _, e := range list {
				s, qualified := e.(*ast.SelectorExpr)
				if qualified && nameOf(s.X) != "object" || !qualified && f.Name.Name != "object" {
					continue
				}
				if name := nameOf(e); slices.Contains(types, name) && !slices.Contains(*to, name) {
					*to = append(*to, name)
				}
			}
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CaseClause:
				note(&listed, n.List...)
			case *ast.CompositeLit:
				note(&listed, tableKeys(n)...)
			case *ast.BinaryExpr:
				if n.Op == token.EQL || n.Op == token.NEQ {
					note(&compared, n.X, n.Y)
				}
			}
			return true
		})
		if len(compared) > 1 {
			listed = append(listed, compared...)
		}
		if len(listed) > 0 {
			found[name] = listed
		}
	}
	return found
}

// tableKeys returns the keys of a literal, without names that may be those of fields.
func tableKeys(lit *ast.CompositeLit) (keys []ast.Expr) {
	table := false
	switch lit.Type.(type) {
	case *ast.MapType, *ast.ArrayType:
		table = true
	}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if _, bare := kv.Key.(*ast.Ident); table || !bare {
				keys = append(keys, kv.Key)
			}
		}
	}
	return keys
}
