package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// walkTree calls visit for every file below the given directories of the tree, with its path from
// the tree's root (slashes, ".go" included) and its text. No directory means the whole tree.
// It leaves out bin, testdata and hidden directories other than .ci, which hold no source.
func walkTree(t *testing.T, visit func(rel, text string), dirs ...string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	files := 0
	for _, dir := range dirs {
		top := filepath.Join(root, dir)
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				if path != top && skipped(d.Name()) {
					return filepath.SkipDir
				}
				return nil
			}
			if !source(d.Name()) {
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			files++
			visit(filepath.ToSlash(rel), string(text))
			return nil
		})
		require.NoError(t, err)
	}
	require.NotZero(t, files)
}

// skipped reports whether a directory of this name holds no source.
func skipped(name string) bool {
	return strings.HasPrefix(name, ".") && name != ".ci" || name == "bin" || name == "testdata"
}

// source reports whether people read and write files of this name.
func source(name string) bool {
	switch filepath.Ext(name) {
	case ".go", ".md", ".sh", ".conf":
		return true
	}
	return name == "Makefile" || name == "run" // .ci/run
}

// program reports whether the path names Go code that is part of the server or of a tool.
func program(rel string) bool {
	return strings.HasSuffix(rel, ".go") && !strings.HasSuffix(rel, "_test.go")
}

// parse returns the syntax tree of a file that walkTree has visited.
func parse(t *testing.T, fset *token.FileSet, rel, text string, mode parser.Mode) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(fset, rel, text, mode)
	require.NoError(t, err)
	return f
}
