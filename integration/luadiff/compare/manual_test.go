package compare

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

var record = flag.Bool("record", false, "write what Redis 8 returns into the snippets' files")

// snippet is one piece of Lua from testdata/manual and what it returns.
type snippet struct {
	code, mark, want string
}

// reporter surrounds a snippet with what describes its results in one line. The snippet is a chunk
// of its own with the arguments 'x' and 'y'.
const reporter = `local function show(v, deep)
  if type(v) == 'string' then
    return '"' .. v:gsub('0x%x%x%x%x%x%x+', 'ADDR'):gsub('[%c\127-\255"\\]', function(c)
      return c == '\n' and '\\n' or string.format('\\%03d', c:byte())
    end) .. '"'
  elseif type(v) ~= 'table' then
    return (tostring(v):gsub('0x%x+', 'ADDR'))
  elseif deep > 3 then
    return '{..}'
  end
  local items, rest, n = {}, {}, 0
  while rawget(v, n + 1) ~= nil do
    n = n + 1
    items[n] = show(v[n], deep + 1)
  end
  for k, e in next, v do
    if not (type(k) == 'number' and k % 1 == 0 and k >= 1 and k <= n) then
      rest[#rest + 1] = '[' .. show(k, deep + 1) .. ']=' .. show(e, deep + 1)
    end
  end
  table.sort(rest)
  for _, r in ipairs(rest) do items[#items + 1] = r end
  return '{' .. table.concat(items, ', ') .. '}'
end
local function report(ok, ...)
  local all = {}
  for i = 1, select('#', ...) do all[i] = show((select(i, ...)), 0) end
  return (ok and '' or 'error: ') .. (all[1] and table.concat(all, ', ') or '(nothing)')
end
local chunk, message = loadstring([=====[
CODE]=====], '=snippet')
if not chunk then return 'syntax: ' .. show(message, 0) end
return report(pcall(chunk, 'x', 'y'))
`

func (s snippet) program() string { return strings.Replace(reporter, "CODE", s.code, 1) }

// readSnippets reads a file: parts between blank lines. One that begins with # is a heading. In
// the others the line --- stands between the snippet and its results, "--- redis" if stock Lua
// gives other results, or "--- not godwit" if Godwit does on purpose.
func readSnippets(t *testing.T, path string) (parts []string, list []snippet) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	parts = strings.Split(strings.TrimSpace(string(text)), "\n\n")
	for _, part := range parts {
		if strings.HasPrefix(part, "#") {
			continue
		}
		list = append(list, parseSnippet(part))
	}
	return parts, list
}

func parseSnippet(part string) (s snippet) {
	s.code, s.want, _ = strings.Cut(part, "\n---")
	s.mark, s.want, _ = strings.Cut(s.want, "\n")
	return s
}

func eachFile(t *testing.T, fn func(t *testing.T, path string)) {
	files, err := filepath.Glob("../testdata/manual/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) { fn(t, path) })
	}
}

func unmarked(list []snippet, mark string) []snippet {
	return slices.DeleteFunc(list, func(s snippet) bool { return s.mark == mark })
}

// checkSnippets runs all snippets on an engine.
func checkSnippets(t testing.TB, e Engine, list []snippet) {
	programs := make([]string, len(list))
	for i, s := range list {
		programs[i] = s.program()
	}
	got, err := e.Run(programs...)
	require.NoError(t, err)
	for i, s := range list {
		assert.Equal(t, s.want, got[i], s.code)
	}
}

// TestManualGodwit checks what the sentences of the reference manual say, and more, on Godwit.
func TestManualGodwit(t *testing.T) {
	e := godwit(t)
	all := 0
	eachFile(t, func(t *testing.T, path string) {
		_, list := readSnippets(t, path)
		checkSnippets(t, e, unmarked(list, " not godwit"))
		all += len(list)
	})
	require.Greater(t, all, 1000)
}

// TestManualRedis checks that the recorded results are those of Redis.
func TestManualRedis(t *testing.T) {
	s := testserver.Redis.Start(t, "")
	e, err := NewServer("unix", s.Socket)
	require.NoError(t, err)
	defer e.Close()
	eachFile(t, func(t *testing.T, path string) {
		parts, list := readSnippets(t, path)
		if *record {
			recordSnippets(t, e, path, parts)
			return
		}
		checkSnippets(testserver.Redis.TB(t), e, list)
	})
}

func recordSnippets(t *testing.T, e Engine, path string, parts []string) {
	for i, part := range parts {
		if strings.HasPrefix(part, "#") {
			continue
		}
		s := parseSnippet(part)
		got, err := e.Run(s.program())
		require.NoError(t, err)
		require.NotContains(t, got[0], "\n", s.code)
		parts[i] = s.code + "\n---" + s.mark + "\n" + got[0]
	}
	text := strings.Join(parts, "\n\n") + "\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// TestManualLua checks the recorded results against Lua's own implementation, where it is
// installed, but for snippets about what Redis has changed.
func TestManualLua(t *testing.T) {
	e, err := NewLua51()
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	require.NoError(t, err)
	defer e.Close()
	eachFile(t, func(t *testing.T, path string) {
		_, list := readSnippets(t, path)
		checkSnippets(t, e, unmarked(list, " redis"))
	})
}

// godwit returns the engine within this process.
func godwit(t testing.TB) Engine {
	e := NewHost()
	t.Cleanup(e.Close)
	got, err := e.Run("return tostring(#{[100] = 1})")
	require.NoError(t, err)
	if got[0] != "0" {
		t.Skip("Godwit does not run its own machine yet")
	}
	return e
}
