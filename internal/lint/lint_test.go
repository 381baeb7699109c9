// Package lint holds the tree against the house rules that no linter knows: which layer may import which, and who may use unsafe.
package lint

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// layers of docs/ARCHITECTURE.md: a package may import packages of lower layers only.
var layers = map[string]int{
	"internal/arena": 0, "internal/invariant": 0, "internal/resp": 0, "internal/scan": 0, "internal/geohash": 0, "internal/cell": 0,
	"internal/hll": 0, "internal/lzf": 0, "internal/evloop": 0, "internal/metrics": 0, "internal/vfs": 0, "internal/logging": 0,
	"internal/murmur": 0, "internal/proctitle": 0, "internal/testserver": 1,
	"internal/crash": 0, "internal/strtod": 0,
	"internal/sds": 1, "internal/listpack": 1, "internal/intset": 1, "internal/dict": 1, "internal/skiplist": 1,
	"internal/quicklist": 1, "internal/bloom": 1, "internal/stream": 1, "internal/wheel": 1,
	"internal/cuckoo": 1, "internal/cms": 1, "internal/topk": 1, "internal/tdigest": 1,
	"internal/object":   2,
	"internal/keyspace": 3,
	"internal/persist":  4, "internal/config": 4, "internal/acl": 4, "internal/pubsub": 4, "internal/repl": 4,
	"internal/cluster": 4, "internal/script": 4,
	"internal/engine": 5, "internal/command": 6, "internal/server": 7, "internal/storage": 7, "cmd/server": 8,
}

// sameLayer are the imports within a layer that are allowed.
var sameLayer = map[string][]string{
	"internal/arena":     {"internal/invariant"},
	"internal/quicklist": {"internal/listpack"},
	"internal/hll":       {"internal/murmur"},
}

// unsafeAllowed are the packages that may import unsafe.
var unsafeAllowed = map[string]bool{"internal/arena": true, "internal/dict": true, "internal/evloop": true,
	"internal/proctitle": true}

func TestImports(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	files := 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if !strings.HasPrefix(rel, "internal/") && !strings.HasPrefix(rel, "cmd/") {
			return nil
		}
		files++
		checkFile(t, path, rel)
		return nil
	})
	require.NoError(t, err)
	require.NotZero(t, files)
}

func checkFile(t *testing.T, path, pkg string) {
	src, err := os.ReadFile(path)
	require.NoError(t, err)
	f, err := parser.ParseFile(token.NewFileSet(), path, src, parser.ImportsOnly)
	require.NoError(t, err)
	for _, spec := range f.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		if name == "unsafe" && !unsafeAllowed[pkg] {
			t.Errorf("%s: unsafe is not for %s", path, pkg)
		}
		dep, ours := strings.CutPrefix(name, "godwit/")
		if !ours || strings.HasPrefix(dep, pkg+"/") || strings.HasPrefix(pkg, dep+"/") {
			continue // not ours, or a part of the same package's folder
		}
		checkImport(t, path, pkg, dep)
	}
}

func checkImport(t *testing.T, path, pkg, dep string) {
	from, ok := layerOf(pkg)
	if !ok {
		t.Errorf("%s: %s has no layer", path, pkg)
		return
	}
	to, ok := layerOf(dep)
	if !ok {
		t.Errorf("%s: %s has no layer", path, dep)
		return
	}
	if to < from {
		return
	}
	for _, allowed := range sameLayer[pkg] {
		if dep == allowed {
			return
		}
	}
	if dep == "internal/invariant" {
		return // checks are for every layer
	}
	t.Errorf("%s: %s (layer %d) imports %s (layer %d)", path, pkg, from, dep, to)
}

// layerOf finds the layer of a package or of the package folder that it is a part of.
func layerOf(pkg string) (int, bool) {
	for p := pkg; p != "."; p = filepath.ToSlash(filepath.Dir(p)) {
		if l, ok := layers[p]; ok {
			return l, true
		}
	}
	return 0, false
}
