// Package lint checks the tree for the house rules that no linter knows: which layer may import
// which, in which order the engine's files use each other, who may use unsafe or read the wall
// clock, how goroutines begin, and how long lines, functions and files may be. It has tests only.
package lint

import (
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// layers are those of docs/ARCHITECTURE.md. A package may import packages of lower layers only. A
// subdirectory belongs to the layer of the directory above it.
var layers = map[string]int{
	"internal/arena": 0, "internal/invariant": 0, "internal/resp": 0, "internal/scan": 0,
	"internal/geohash": 0, "internal/cell": 0, "internal/hll": 0, "internal/lzf": 0,
	"internal/evloop": 0, "internal/metrics": 0, "internal/vfs": 0, "internal/logging": 0,
	"internal/murmur": 0, "internal/proctitle": 0, "internal/rounds": 0, "internal/testserver": 1,
	"internal/crash": 0, "internal/strtod": 0, "internal/bitcount": 0, "internal/slot": 0,
	"internal/boottime": 0,
	"internal/sds":      1, "internal/listpack": 1, "internal/intset": 1, "internal/dict": 1,
	"internal/skiplist": 1, "internal/quicklist": 1, "internal/bloom": 1, "internal/stream": 1,
	"internal/wheel": 1, "internal/cuckoo": 1, "internal/cms": 1, "internal/topk": 1,
	"internal/tdigest": 1, "internal/propagation": 1, "internal/upstream": 2,
	"internal/lua": 2, "internal/object": 2, "internal/spec": 2, "internal/backlog": 2,
	"internal/keyspace": 3, "internal/config": 3,
	"internal/persist": 4, "internal/acl": 4, "internal/pubsub": 4,
	"internal/movein": 1, "internal/repl": 4, "internal/cluster": 4, "internal/script": 4,
	"internal/engine":  5,
	"internal/command": 6,
	"internal/server":  7,
	"cmd/server":       8,
}

// sameLayer lists the imports within a layer that are allowed.
var sameLayer = map[string][]string{
	"internal/arena":     {"internal/invariant"},
	"internal/quicklist": {"internal/listpack"},
	"internal/stream":    {"internal/listpack"},
	"internal/hll":       {"internal/murmur"},

	"internal/cluster": {"internal/cluster/topology", "internal/cluster/core",
		"internal/cluster/raftlog", "internal/cluster/bus"},
	"internal/cluster/core":    {"internal/cluster/topology"},
	"internal/cluster/sim":     {"internal/cluster/topology", "internal/cluster/core"},
	"internal/cluster/raftlog": {"internal/cluster/topology", "internal/cluster/core"},

	"internal/lua/compiler": {"internal/lua/bytecode", "internal/lua/number"},
	"internal/lua/redislib": {"internal/lua/number"},
	"internal/lua/stdlib":   {"internal/lua/number"},
}

// unsafeAllowed names the packages that may import unsafe.
var unsafeAllowed = map[string]bool{"internal/arena": true, "internal/dict": true,
	"internal/evloop": true, "internal/lua": true, "internal/proctitle": true}

// onlyIn lists imports that belong to certain packages or files. A database hides its dictionaries
// in a few files, so that there may be several of them. What is for tests is not for the server;
// this rule does not bind tests.
var onlyIn = map[string][]string{
	"internal/dict": {"internal/object", "internal/keyspace/store.go",
		"internal/keyspace/slots.go", "internal/keyspace/slots_walk.go"},
	"internal/testserver":                  {},
	"internal/testseed":                    {},
	"internal/logging/loggingtest":         {},
	"internal/cluster/sim":                 {},
	"internal/propagation/propagationtest": {},
}

func TestImports(t *testing.T) {
	walkTree(t, func(rel, text string) {
		if !program(rel) {
			return
		}
		pkg := path.Dir(rel)
		for _, spec := range parse(t, token.NewFileSet(), rel, text, parser.ImportsOnly).Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			if name == "unsafe" && !unsafeAllowed[pkg] {
				t.Errorf("%s: unsafe is not for %s", rel, pkg)
			}
			dep, ours := strings.CutPrefix(name, "godwit/")
			if !ours || strings.HasPrefix(dep, pkg+"/") || strings.HasPrefix(pkg, dep+"/") {
				continue // not ours, or a part of the same package's folder
			}
			checkImport(t, rel, pkg, dep)
			allowed := func(place string) bool { return place == pkg || place == rel }
			if places := onlyIn[dep]; places != nil && !slices.ContainsFunc(places, allowed) {
				t.Errorf("%s: %s is only for %q", rel, dep, places)
			}
		}
	}, "internal", "cmd")
}

// checkImport reports an import that does not point to a lower layer.
func checkImport(t *testing.T, file, pkg, dep string) {
	from, ok := layerOf(pkg)
	if !ok {
		t.Errorf("%s: %s has no layer", file, pkg)
		return
	}
	to, ok := layerOf(dep)
	if !ok {
		t.Errorf("%s: %s has no layer", file, dep)
		return
	}
	if to < from {
		return
	}
	if slices.Contains(sameLayer[pkg], dep) {
		return
	}
	if dep == "internal/invariant" {
		return // checks are for every layer
	}
	t.Errorf("%s: %s (layer %d) imports %s (layer %d)", file, pkg, from, dep, to)
}

// layerOf returns the layer of a package or of the nearest directory above it that has one.
func layerOf(pkg string) (int, bool) {
	for p := pkg; p != "."; p = path.Dir(p) {
		if l, ok := layers[p]; ok {
			return l, true
		}
	}
	return 0, false
}
