package lint

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// against lists the uses that run against the order of a package's files, "file.go: declaration
// uses file.go: name", with the reason. It is empty, and should stay so: a function that does not
// fit usually stands in the wrong file.
var against = map[string]string{}

// stateTypes are the structs that hold the state of all files of a package: their fields are
// everyone's, and what their declarations name is no use.
var stateTypes = []string{"Engine", "Client"}

// fileInOrder is a line of a package comment that states the order of the files.
var fileInOrder = regexp.MustCompile(`(?m)^//\t([a-z_]+\.go) +\S`)

// TestOrderOfFiles checks that in internal/engine uses run one way, from a file to those that stand
// above it in the package comment.
func TestOrderOfFiles(t *testing.T) {
	dir := filepath.Join("..", "..", "internal", "engine")
	doc, err := os.ReadFile(filepath.Join(dir, "doc.go"))
	require.NoError(t, err)
	var order []string
	for _, m := range fileInOrder.FindAllStringSubmatch(string(doc), -1) {
		order = append(order, m[1])
	}
	listed := append(slices.Clone(order), "doc.go")
	all, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	fset := token.NewFileSet()
	var files []*ast.File
	linux := build.Default
	linux.GOOS, linux.GOARCH = "linux", "amd64"
	for _, p := range all {
		if name := filepath.Base(p); program(name) {
			i := slices.Index(listed, name)
			require.GreaterOrEqual(t, i, 0, "%s has no place in the order, see doc.go", name)
			listed = slices.Delete(listed, i, i+1)
			built, err := linux.MatchFile(dir, name)
			require.NoError(t, err)
			if built {
				f, err := parser.ParseFile(fset, p, nil, 0)
				require.NoError(t, err)
				files = append(files, f)
			}
		}
	}
	require.Empty(t, listed, "in the order, but no files")
	uses := usesBetween(fset, files)
	require.Greater(t, len(uses), 1000, "most uses are not seen")
	needed := map[string]bool{}
	for _, u := range uses {
		switch {
		case slices.Index(order, u.to) < slices.Index(order, u.from):
		case against[u.String()] != "":
			needed[u.String()] = true
		default:
			t.Errorf("%s, which stands below it in doc.go", u)
		}
	}
	require.Len(t, needed, len(against), "exceptions that nothing needs")
}

// use is a name of one file that a declaration of another uses.
type use struct{ from, decl, to, name string }

func (u use) String() string {
	return fmt.Sprintf("%s: %s uses %s: %s", u.from, u.decl, u.to, u.name)
}

// usesBetween returns what the files of a package use of each other, in no order. Packages that
// they import are not looked at: what comes of them has no type, and no name of the package either.
func usesBetween(fset *token.FileSet, files []*ast.File) []use {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: hollow{}, Error: func(error) {}}
	pkg, _ := conf.Check("p", fset, files, info) // with errors, for the imports are hollow
	everyones := stateFields(pkg)
	fileOf := func(p token.Pos) string { return filepath.Base(fset.Position(p).Filename) }
	found := map[use]bool{}
	for _, f := range files {
		eachDecl(f, func(name string, d ast.Node) {
			ast.Inspect(d, func(n ast.Node) bool {
				id, _ := n.(*ast.Ident)
				if id == nil {
					return true
				}
				obj := info.Uses[id]
				if obj == nil || obj.Pkg() != pkg || everyones[obj] || isLocal(obj) {
					return true
				}
				u := use{fileOf(id.Pos()), name, fileOf(obj.Pos()), obj.Name()}
				if u.from != u.to {
					found[u] = true
				}
				return true
			})
		})
	}
	return slices.Collect(maps.Keys(found))
}

// stateFields returns the fields of the state types.
func stateFields(pkg *types.Package) map[types.Object]bool {
	fields := map[types.Object]bool{}
	for _, name := range stateTypes {
		obj := pkg.Scope().Lookup(name)
		if obj == nil {
			continue
		}
		s := obj.Type().Underlying().(*types.Struct)
		for i := range s.NumFields() {
			fields[s.Field(i)] = true
		}
	}
	return fields
}

// eachDecl calls fn for each declaration of a file with its name, but for those of state types. Of
// a method it leaves out the receiver.
func eachDecl(f *ast.File, fn func(name string, d ast.Node)) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			fn(d.Name.Name, d.Type)
			if d.Body != nil {
				fn(d.Name.Name, d.Body)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if !slices.Contains(stateTypes, s.Name.Name) {
						fn(s.Name.Name, s)
					}
				case *ast.ValueSpec:
					fn(s.Names[0].Name, s)
				}
			}
		}
	}
}

// isLocal reports whether the object is a variable, constant or type of a function, or a parameter.
func isLocal(obj types.Object) bool {
	switch obj := obj.(type) {
	case *types.Func:
		return false
	case *types.Var:
		if obj.IsField() {
			return false
		}
	}
	return obj.Parent() != obj.Pkg().Scope()
}

// hollow imports every package as an empty one.
type hollow struct{}

// Import implements types.Importer.
func (hollow) Import(p string) (*types.Package, error) {
	name := path.Base(p)
	if name == "v2" {
		name = path.Base(path.Dir(p))
	}
	pkg := types.NewPackage(p, name)
	pkg.MarkComplete()
	return pkg, nil
}

// TestUsesAreFound checks that the test above sees each kind of use, and no use of the state's
// fields, of a receiver, or of what is local.
func TestUsesAreFound(t *testing.T) {
	const low = "type Engine struct { x part; n ext.Type }\ntype part struct { n int }\n" +
		"func (e *Engine) m() {}\nfunc f() {}\nconst c = 1\nvar v = 1\ntype T int\n"
	for src, want := range map[string][]string{
		"func a() { f() }":                      {"a uses low.go: f"},
		"func (p *part) a() {}":                 nil,
		"func a(e *Engine) {}":                  {"a uses low.go: Engine"},
		"func (e *Engine) a() { e.m() }":        {"a uses low.go: m"},
		"func (e *Engine) a() { _ = e.x }":      nil,
		"func (e *Engine) a() { _ = e.x.n }":    {"a uses low.go: n"},
		"func (e *Engine) a() { e.n.f(); m() }": nil,
		"func a() { f := 1; _ = f }":            nil,
		"type a struct { t T }":                 {"a uses low.go: T"},
		"var a = v":                             {"a uses low.go: v"},
		"const a = c":                           {"a uses low.go: c"},
		"func a() { _ = part{n: c} }": {
			"a uses low.go: c", "a uses low.go: n", "a uses low.go: part"},
	} {
		fset := token.NewFileSet()
		var files []*ast.File
		for name, text := range map[string]string{"low.go": low, "high.go": src} {
			f, err := parser.ParseFile(fset, name, "package p\n"+text, 0)
			require.NoError(t, err, src)
			files = append(files, f)
		}
		var got []string
		for _, u := range usesBetween(fset, files) {
			got = append(got, strings.TrimPrefix(u.String(), "high.go: "))
		}
		slices.Sort(got)
		require.Equal(t, want, got, src)
	}
}
