package lint

import (
	"bufio"
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// The limits of size. A tab counts as four columns, a character of any script as one.
//
// Lines that the width does not bind:
//
//   - in Markdown, rows of tables, whatever stands in a fence, and lines whose last word is a link
//     or a path that cannot be broken;
//   - files that begin with "// Code generated", as Go's tools know them;
//   - in Go, the table behind a comment "//lint:table reason": the lines from there to the next
//     one that closes a bracket at the comment's own indentation.
const (
	maxColumns   = 100
	tabColumns   = 4
	maxFuncLines = 60  // between the braces, tests included
	maxFileLines = 400 // of files that are not tests
)

// todoFile lists the directories that are above the limits today, and by how much. A directory
// that stands there may not get worse; when it gets better its line is lowered or removed. So the
// list only shrinks, and is empty in the end.
const todoFile = "testdata/size_todo.txt"

const todoHead = `# Directories above the limits of size_test.go: lines over 100 columns,
# functions over 60 lines, files over 400 lines. Numbers only go down. After some
# have, "go test ./internal/lint -run Size -update" writes this file again.
`

var update = flag.Bool("update", false, "write "+todoFile+" as the tree is now")

// excess is what is above the limits, in one directory.
type excess struct{ lines, funcs, files int }

// TestSize holds each directory against the limits, or against its line of todoFile.
func TestSize(t *testing.T) {
	now := map[string]excess{}
	where := map[string][]string{}
	walkTree(t, func(rel, text string) {
		dir := path.Dir(rel)
		e := now[dir]
		for _, line := range wideLines(rel, text) {
			e.lines++
			where[dir] = append(where[dir], fmt.Sprintf("%s:%d is too wide", rel, line))
		}
		for _, f := range longFuncs(t, rel, text) {
			e.funcs++
			where[dir] = append(where[dir], f)
		}
		if n := strings.Count(text, "\n"); program(rel) && n > maxFileLines {
			e.files++
			where[dir] = append(where[dir], fmt.Sprintf("%s: %d lines", rel, n))
		}
		if e != (excess{}) {
			now[dir] = e
		}
	})
	if *update {
		writeTodo(t, now)
		return
	}
	todo := readTodo(t)
	for dir, e := range now {
		if was := todo[dir]; e.lines > was.lines || e.funcs > was.funcs || e.files > was.files {
			t.Errorf("%s: %v above the limits of size, %v allowed:\n%s",
				dir, e, was, strings.Join(where[dir], "\n"))
		}
	}
	for dir, was := range todo {
		if e := now[dir]; e.lines < was.lines || e.funcs < was.funcs || e.files < was.files {
			t.Errorf("%s: %v above the limits of size, %v in %s: well done, lower it (-update)",
				dir, e, was, todoFile)
		}
	}
}

func (e excess) String() string {
	return fmt.Sprintf("%d lines, %d functions, %d files", e.lines, e.funcs, e.files)
}

func readTodo(t *testing.T) map[string]excess {
	t.Helper()
	text, err := os.ReadFile(todoFile)
	require.NoError(t, err)
	todo := map[string]excess{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var dir string
		var e excess
		_, err := fmt.Sscan(line, &dir, &e.lines, &e.funcs, &e.files)
		require.NoError(t, err, line)
		require.NotContains(t, todo, dir)
		todo[dir] = e
	}
	return todo
}

func writeTodo(t *testing.T, now map[string]excess) {
	t.Helper()
	var b strings.Builder
	b.WriteString(todoHead)
	for _, dir := range slices.Sorted(maps.Keys(now)) {
		e := now[dir]
		fmt.Fprintln(&b, dir, e.lines, e.funcs, e.files)
	}
	require.NoError(t, os.WriteFile(todoFile, []byte(b.String()), 0o644))
}

// wideLines returns the numbers of a file's lines that are wider than they may be.
func wideLines(rel, text string) []int {
	if strings.HasPrefix(text, "// Code generated") {
		return nil
	}
	exempt := func(string) bool { return false }
	switch path.Ext(rel) {
	case ".go":
		exempt = goTables()
	case ".md":
		exempt = markdownBlocks()
	}
	var wide []int
	s := bufio.NewScanner(strings.NewReader(text))
	s.Buffer(nil, max(len(text)+1, bufio.MaxScanTokenSize))
	for n := 1; s.Scan(); n++ {
		if line := s.Text(); !exempt(line) && columns(line) > maxColumns {
			wide = append(wide, n)
		}
	}
	return wide
}

// columns returns the width of a line.
func columns(line string) int {
	n := 0
	for _, r := range line {
		if n++; r == '\t' {
			n += tabColumns - 1 - (n-1)%tabColumns
		}
	}
	return n
}

// goTables returns a function that is called with each line of a file of Go code, and reports
// whether it is part of a marked table.
func goTables() func(line string) bool {
	inside, indent := false, ""
	return func(line string) bool {
		rest := strings.TrimLeft(line, "\t")
		own := line[:len(line)-len(rest)]
		switch {
		case strings.HasPrefix(rest, "//lint:table "):
			inside, indent = true, own
		case inside && own == indent && strings.IndexAny(rest, ")]}") == 0:
			inside = false
		}
		return inside
	}
}

var lastWord = regexp.MustCompile(`\S+$`)

// markdownBlocks returns a function that is called with each line of a Markdown file, and reports
// whether it is a row of a table, part of a fenced block, or too wide for its last word alone.
func markdownBlocks() func(line string) bool {
	fenced := false
	return func(line string) bool {
		rest := strings.TrimSpace(line)
		if strings.HasPrefix(rest, "```") {
			fenced = !fenced
			return true
		}
		last := lastWord.FindString(rest)
		return fenced || strings.HasPrefix(rest, "|") ||
			strings.Contains(last, "/") && utf8.RuneCountInString(last) > maxColumns/2
	}
}

// longFuncs describes the functions and methods of a file of Go code that are too long. What a
// function holds in literals counts as its own.
func longFuncs(t *testing.T, rel, text string) []string {
	t.Helper()
	if path.Ext(rel) != ".go" {
		return nil
	}
	var long []string
	fset := token.NewFileSet()
	for _, d := range parse(t, fset, rel, text, 0).Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		first, last := fset.Position(fn.Body.Lbrace).Line, fset.Position(fn.Body.Rbrace).Line
		if n := last - first - 1; n > maxFuncLines {
			long = append(long, fmt.Sprintf("%s:%d: %s has %d lines", rel, first, fn.Name.Name, n))
		}
	}
	return long
}

// TestSizeExemptions: what counts as wide, and what a table, a fence and a generated file hide.
func TestSizeExemptions(t *testing.T) {
	wide := strings.Repeat("x ", 51) // 102 columns
	for _, c := range []struct {
		rel, text string
		want      []int
	}{
		{"a.go", "short\n" + wide, []int{2}},
		{"a.go", strings.Repeat("é", 100), nil},
		{"a.go", strings.Repeat("\t", 25), nil},
		{"a.go", strings.Repeat("\t", 25) + "x", []int{1}},
		{"a.go", "ab\t" + strings.Repeat("x", 96), nil},
		{"a.go", "// Code generated by x. DO NOT EDIT.\n" + wide, nil},
		{"a.go", "//lint:table rows\nvar x = []int{\n\t" + wide + "\n}\n" + wide, []int{5}},
		{"a.go", "\t//lint:table rows\n\tx := f(\n\t\t" + wide + "\n\t)\n" + wide, []int{5}},
		{"a.sh", "//lint:table rows\n" + wide, []int{2}},
		{"Makefile", wide, []int{1}},
		{"a.md", wide + "\n| " + wide + "\n```\n" + wide + "\n```\n" + wide, []int{1, 6}},
		{"a.md", "see https://" + strings.Repeat("x/", 50), nil},
		{"a.md", wide + " a/b", []int{1}},
	} {
		require.Equal(t, c.want, wideLines(c.rel, c.text), "%s: %s", c.rel, c.text)
	}
}

// TestLongFuncs: bodies are counted between their braces, with the literals in them.
func TestLongFuncs(t *testing.T) {
	body := func(n int) string { return "{\n" + strings.Repeat("_ = 0\n", n) + "}\n" }
	src := "package p\nfunc a() " + body(60) + "func (T) b() " + body(61) +
		"func c() {\n_ = func() " + body(60) + "}\n"
	require.Equal(t, []string{"a.go:64: b has 61 lines", "a.go:127: c has 62 lines"},
		longFuncs(t, "a.go", src))
	require.Empty(t, longFuncs(t, "a.md", src))
}
