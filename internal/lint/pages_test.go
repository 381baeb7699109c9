package lint

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"godwit/internal/config"
)

// treeRoot is the folder of the tree.
const treeRoot = "../.."

// pages returns the paths of the pages for people, from the root. Reports of measurements that were
// made once are not among them: they name what was there then.
func pages(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		found, err := filepath.Glob(filepath.Join(treeRoot, pattern))
		require.NoError(t, err)
		for _, path := range found {
			rel, err := filepath.Rel(treeRoot, path)
			require.NoError(t, err)
			list = append(list, rel)
		}
	}
	require.Contains(t, list, "README.md")
	return list
}

// page returns the text of a page.
func page(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(treeRoot, path))
	require.NoError(t, err)
	return string(text)
}

// prose returns a page without its blocks of code.
func prose(text string) string {
	return regexp.MustCompile("(?ms)^ *```.*?^ *```$").ReplaceAllString(text, "")
}

// link finds the targets of links.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestPageLinks follows the links within the tree, to the heading that they name.
func TestPageLinks(t *testing.T) {
	for _, path := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(prose(page(t, path)), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			file, heading, _ := strings.Cut(m[1], "#")
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), file)
			}
			if _, err := os.Stat(filepath.Join(treeRoot, target)); err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
			} else if heading != "" && !slices.Contains(headings(page(t, target)), heading) {
				t.Errorf("%s links to %s, but %s has no such heading", path, m[1], target)
			}
		}
	}
}

// headings returns the headings of a page as links name them.
func headings(text string) (list []string) {
	for line := range strings.Lines(prose(text)) {
		words, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " ")
		if !ok || !strings.HasPrefix(line, "#") {
			continue
		}
		list = append(list, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(words)))
	}
	return list
}

// quoted finds what pages set in code style.
var quoted = regexp.MustCompile("`([^`\n]+)`")

// TestPageNames looks for the make targets, variables of make, files and packages that pages name.
func TestPageNames(t *testing.T) {
	makefile := page(t, "Makefile")
	known := map[string]bool{"&&": true, "sudo": true, "make": true}
	for _, m := range regexp.MustCompile(`(?m)^([a-z-]+):|^([A-Z]+) *\??=`).
		FindAllStringSubmatch(makefile, -1) {
		known[m[1]+m[2]] = true
	}
	files := 0
	for _, path := range pages(t) {
		for _, m := range quoted.FindAllStringSubmatch(prose(page(t, path)), -1) {
			words := strings.Fields(m[1])
			switch {
			case words[0] == "make":
				for _, w := range words[1:] {
					name, _, _ := strings.Cut(w, "=")
					if !known[name] {
						t.Errorf("%s has %q, but Makefile no %s", path, m[1], name)
					}
				}
			case filePath.MatchString(m[1]):
				files++
				if !inTree(t, m[1]) {
					t.Errorf("%s names %s, which is not there", path, m[1])
				}
			}
		}
	}
	require.Greater(t, files, 100)
}

// filePath finds paths of files and packages. A word in angle brackets stands for any name.
var filePath = regexp.MustCompile(
	`^(bench|cmd|conf|docs|integration|internal|scripts)/[^ ]+$|` +
		`^[a-z]+(/[a-z]+)+$|^[\w/*<>-]+\.(go|sh)$`)

// inTree reports whether the path is there from the root or, as pages may abbreviate it, from a
// folder that holds packages.
func inTree(t *testing.T, name string) bool {
	t.Helper()
	name = regexp.MustCompile(`<\w+>`).ReplaceAllString(name, "*")
	for _, folder := range []string{"", "internal", "internal/*", "internal/*/*", "integration/*"} {
		found, err := filepath.Glob(filepath.Join(treeRoot, folder, name))
		require.NoError(t, err)
		if found != nil {
			return true
		}
	}
	return false
}

// TestPagesAreLinked wants a link to every page and report from another page.
func TestPagesAreLinked(t *testing.T) {
	linked := map[string]bool{"README.md": true}
	for _, path := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(prose(page(t, path)), -1) {
			file, _, _ := strings.Cut(m[1], "#")
			linked[filepath.Join(filepath.Dir(path), file)] = true
		}
	}
	walkTree(t, func(rel, _ string) {
		if filepath.Ext(rel) == ".md" && !linked[rel] {
			t.Errorf("no page links to %s", rel)
		}
	})
}

// TestPageOptions looks for the options of redis-cli and of the server in the commands that pages
// show.
func TestPageOptions(t *testing.T) {
	help, err := exec.Command("redis-cli", "--help").CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		t.Log("no redis-cli: its options are not looked for")
	}
	more, _ := exec.Command("redis-cli", "--cluster", "help").CombinedOutput()
	help = append(help, more...)
	server := page(t, "cmd/server/tools.go")
	for name := range directives() {
		server += " --" + name
	}
	command := regexp.MustCompile(`\b(redis-cli|godwit-server)( (?:\\\n|[^|\n\x60])+)`)
	option := regexp.MustCompile(` (--[a-z][a-z-]+)`)
	options := 0
	for _, path := range pages(t) {
		for _, m := range command.FindAllStringSubmatch(page(t, path), -1) {
			for _, o := range option.FindAllStringSubmatch(m[2], -1) {
				options++
				in := server
				if m[1] == "redis-cli" {
					in = string(help)
				}
				known := regexp.MustCompile(o[1] + `\b`).MatchString(in)
				if !known && in != "" && o[1] != "--directive" {
					t.Errorf("%s shows %s %s, which is no option", path, m[1], o[1])
				}
			}
		}
	}
	require.Greater(t, options, 10)
}

// TestPageAlerts looks for the fields of INFO and the words of log lines that operators are told to
// watch.
func TestPageAlerts(t *testing.T) {
	var source strings.Builder
	walkTree(t, func(rel, text string) {
		if program(rel) {
			source.WriteString(text)
		}
	}, "internal", "cmd")
	_, text, ok := strings.Cut(page(t, "docs/operating.md"), "\n## What to watch\n")
	require.True(t, ok)
	fields, text, ok := strings.Cut(text, "\n### Alerts on the log\n")
	require.True(t, ok)
	words, _, ok := strings.Cut(text, "\nA load that fails")
	require.True(t, ok)
	checked := 0
	look := func(rows string, column int, before string) {
		for line := range strings.Lines(rows) {
			cells := strings.Split(line, "|")
			if len(cells) <= column {
				continue
			}
			for _, m := range quoted.FindAllStringSubmatch(cells[column], -1) {
				checked++
				if strings.Contains(m[1], "*") || strings.Contains(source.String(), before+m[1]) {
					continue
				}
				t.Errorf("docs/operating.md names %q, which is not in the code", m[1])
			}
		}
	}
	look(fields, 1, `"`)
	look(words, 2, "")
	require.Greater(t, checked, 25)
}

// TestArchitectureLayers holds the table of docs/ARCHITECTURE.md against the layers that the
// imports are held to.
func TestArchitectureLayers(t *testing.T) {
	told := map[string]int{}
	layer := -1
	row := regexp.MustCompile(`^\| (\d*) ?\| (\x60[^|]+\x60) \|`)
	for line := range strings.Lines(page(t, "docs/ARCHITECTURE.md")) {
		m := row.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if m[1] != "" {
			layer++
			require.Equal(t, m[1], strconv.Itoa(layer))
		}
		for _, name := range quoted.FindAllStringSubmatch(m[2], -1) {
			told[name[1]] = layer
		}
	}
	require.Greater(t, len(told), 30)
	for pkg, layer := range layers {
		if inTree(t, pkg) && told[pkg] != layer {
			t.Errorf("docs/ARCHITECTURE.md has %s in layer %d, not %d", pkg, told[pkg], layer)
		}
	}
	for pkg, layer := range told {
		if l, ok := layerOf(pkg); ok && l != layer {
			t.Errorf("docs/ARCHITECTURE.md has %s in layer %d, not %d", pkg, layer, l)
		}
	}
}

// TestPageDirectives looks for the directives that the guides for operators name.
func TestPageDirectives(t *testing.T) {
	known := directives()
	name := regexp.MustCompile(`^[a-z]+(-[a-z]+)+$`)
	checked := 0
	for _, path := range []string{"README.md", "docs/operating.md", "docs/migrating.md",
		"docs/DIFFERENCES.md", "docs/cluster.md"} {
		for _, m := range quoted.FindAllStringSubmatch(prose(page(t, path)), -1) {
			word, _, _ := strings.Cut(m[1], " ")
			if name.MatchString(word) && !notDirectives[word] {
				checked++
				if !known[word] {
					t.Errorf("%s names the directive %s, which is not there", path, word)
				}
			}
		}
	}
	require.Greater(t, checked, 30)
}

// directives returns the names of all directives.
func directives() map[string]bool {
	known := map[string]bool{}
	for _, d := range config.Directives() {
		known[d.Name], known[d.Alias], known[d.Valkey] = true, true, true
	}
	return known
}

// notDirectives are words of pages that look like directives of the table.
var notDirectives = map[string]bool{
	"redis-cli": true, "redis-benchmark": true, "redis-server": true, "godwit-server": true,
	"valkey-cli":     true, // programs
	"rename-command": true, // not in the table
	"bf-hash-seed":   true, // RedisBloom's
}
