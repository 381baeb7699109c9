package stdlib_test

import (
	"bytes"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua"
	"godwit/internal/lua/compiler"
	"godwit/internal/lua/stdlib"
)

// prelude defines what the sources of the tests of strings use. It runs in both machines.
const prelude = `
local function show(v) if v == nil then return 'nil' end return v end
function all(s, p)
  local out, n = '', 0
  for a, b, c in string.gmatch(s, p) do
    out = out .. show(a) .. ',' .. show(b) .. ',' .. show(c) .. ';'
    n = n + 1
    if n > 50 then break end
  end
  return out
end
T = {a = 'A', b = 7, ab = false, ['1'] = 'one', [1] = 1.5, [''] = 'empty', c = {}, [2] = true}
function F1(a) return a end
function F2(a, b) return b end
function F3(a) if a == 'a' then return '<%1>' end end
function F4(a, b, c) return 1e15 end
function F5() return {} end
function F6(a) if a == 'b' then return true end return false end
function F7(a) return string.gsub('abcab', 'b', a) end
`

// judge runs the lines that it reads, and writes what each has returned.
const judge = `
local function text(v)
  if type(v) == 'string' then
    return '"' .. v:gsub('.', function(c)
      local b = c:byte()
      if b < 32 or b > 126 or c == '"' or c == '\\' then return ('\\%03d'):format(b) end
    end) .. '"'
  elseif type(v) == 'number' then
    return ('%.17g'):format(v)
  elseif v == nil or type(v) == 'boolean' then
    return tostring(v)
  end
  return type(v)
end
local function line(...)
  local out = {}
  for i = 1, select('#', ...) do out[i] = text((select(i, ...))) end
  return table.concat(out, ' ')
end
for src in io.lines() do
  local f, message = loadstring(src, '=t')
  print(f and line(pcall(f)) or message)
end
`

// appendText appends a value as the judge writes it.
func appendText(b []byte, v lua.Value) []byte {
	switch {
	case v.IsString():
		b = append(b, '"')
		for _, c := range []byte(v.Str()) {
			if c < ' ' || c > '~' || c == '"' || c == '\\' {
				b = append(b, '\\', '0'+c/100, '0'+c/10%10, '0'+c%10)
			} else {
				b = append(b, c)
			}
		}
		return append(b, '"')
	case v.IsNumber():
		return lua.AppendG(b, v.Num(), 17)
	case v.Kind() == lua.KindBool:
		return strconv.AppendBool(b, v.Truthy())
	}
	return append(b, v.TypeName()...)
}

// newState returns an environment with the string library, pcall and the prelude.
func newState(t testing.TB) *lua.State {
	s := lua.NewState()
	stdlib.OpenString(s)
	s.Globals.SetString("pcall", lua.NativeValue(lua.Pcall()))
	require.Equal(t, "true", run(s, prelude))
	return s
}

// run compiles and runs a source, and returns what the judge would write.
func run(s *lua.State, src string) string {
	p, err := compiler.Compile(src, "t", nil)
	if err != nil {
		return err.Error()
	}
	f, err := lua.Load(p, s.Globals, func(string) lua.Value { return lua.Nil })
	if err != nil {
		return err.Error()
	}
	return call(s, lua.ClosureValue(f))
}

// call calls a function, and returns what the judge would write.
func call(s *lua.State, f lua.Value) string {
	out := []byte("true")
	s.Begin()
	s.Reset()
	s.Main.Push(lua.NativeValue(&lua.Native{Fn: func(t *lua.Thread) int {
		t.Push(f)
		if message, ok := t.Try(0, -1); !ok {
			out = appendText([]byte("false "), message)
			return 0
		}
		for _, v := range t.Args(1) {
			out = appendText(append(out, ' '), v)
		}
		return 0
	}}))
	s.Main.Call(0, 0)
	return string(out)
}

var errNoJudge = errors.New("lua5.1 is not installed")

// judged returns what lua5.1 returns for sources of one line.
func judged(sources []string) ([]string, error) {
	path, err := exec.LookPath("lua5.1")
	if err != nil {
		return nil, errNoJudge
	}
	cmd := exec.Command(path, "-e", "loadstring("+literal(prelude)+", '=t')()"+judge)
	cmd.Stdin = strings.NewReader(strings.Join(sources, "\n") + "\n")
	var out, message bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &message
	if err := cmd.Run(); err != nil {
		return nil, errors.New(err.Error() + ": " + message.String())
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), nil
}

// compare runs sources in both machines.
func compare(t *testing.T, sources []string) {
	want, err := judged(sources)
	if errors.Is(err, errNoJudge) {
		t.Skip(err)
	}
	require.NoError(t, err)
	require.Len(t, want, len(sources))
	s := newState(t)
	for i, src := range sources {
		if got := run(s, src); got != want[i] {
			t.Errorf("%s\n got %s\nwant %s", src, got, want[i])
		}
	}
}
