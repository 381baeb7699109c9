package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// TestPageLinks follows the links within the tree, to the heading that they name.
func TestPageLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
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

// TestPageNames looks for the make targets, files and packages that pages name.
func TestPageNames(t *testing.T) {
	targets := regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(page(t, "Makefile"), -1)
	known := map[string]bool{}
	for _, m := range targets {
		known[m[1]] = true
	}
	file := regexp.MustCompile(`^[\w.*-]+(/[\w.*-]+)+$|^[\w-]+\.(md|conf|go|sh)$`)
	folders := regexp.MustCompile(`^(bench|cmd|conf|docs|integration|internal|scripts)/`)
	for _, path := range pages(t) {
		for _, m := range quoted.FindAllStringSubmatch(prose(page(t, path)), -1) {
			words := strings.Fields(m[1])
			switch {
			case words[0] == "make":
				for _, w := range words[1:] {
					if w == "&&" {
						break
					}
					if !strings.Contains(w, "=") && !known[w] {
						t.Errorf("%s names make %s, which is no target", path, w)
					}
				}
			case file.MatchString(m[1]) && folders.MatchString(m[1]):
				found, err := filepath.Glob(filepath.Join(treeRoot, m[1]))
				require.NoError(t, err)
				if found == nil {
					t.Errorf("%s names %s, which is not there", path, m[1])
				}
			}
		}
	}
}

// TestPageDirectives looks for the directives that the guides for operators name.
func TestPageDirectives(t *testing.T) {
	known := map[string]bool{}
	for _, d := range config.Directives() {
		known[d.Name], known[d.Alias], known[d.Valkey] = true, true, true
	}
	name := regexp.MustCompile(`^[a-z]+(-[a-z]+)+$`)
	checked := 0
	for _, path := range []string{"README.md", "docs/operating.md", "docs/migrating.md",
		"docs/DIFFERENCES.md"} {
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

// notDirectives are words of pages that look like directives of the table.
var notDirectives = map[string]bool{
	"redis-cli": true, "redis-benchmark": true, "redis-server": true, "godwit-server": true,
	"valkey-cli":     true, // programs
	"rename-command": true, // not in the table
	"bf-hash-seed":   true, // RedisBloom's
}
