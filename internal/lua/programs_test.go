package lua_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"godwit/internal/lua"
	"godwit/internal/lua/compiler"
	"godwit/internal/lua/stdlib"
)

var recordPrograms = flag.Bool("record-programs", false,
	"write testdata/programs/*.txt anew, with lua5.1")

// machine is a State with the libraries and with print.
type machine struct {
	*lua.State
	out bytes.Buffer
}

func newMachine() *machine {
	m := &machine{State: lua.NewState()}
	o := stdlib.Options{Compile: m.load}
	stdlib.OpenBase(m.State, o)
	stdlib.OpenString(m.State)
	stdlib.OpenTable(m.State)
	stdlib.OpenMath(m.State)
	stdlib.OpenCoroutine(m.State)
	m.Globals.SetString("print", lua.NativeValue(&lua.Native{Name: "print", Fn: m.print}))
	return m
}

func (m *machine) load(t *lua.Thread, src, name string) (*lua.Closure, error) {
	p, err := compiler.Compile(src, stdlib.ChunkName(name),
		&compiler.Options{Level: t.Nested(), Name: stdlib.LongChunkName(name)})
	if err != nil {
		return nil, err
	}
	return lua.Load(p, m.Globals, nil)
}

func (m *machine) print(t *lua.Thread) int {
	for i, v := range t.Args(1) {
		if i > 0 {
			m.out.WriteByte('\t')
		}
		m.out.WriteString(t.ToString(v).Str())
	}
	m.out.WriteByte('\n')
	return 0
}

// run runs a program as the command lua5.1 does: below a function of C. It returns what it prints,
// with the error that ends it.
func (m *machine) run(src, name string) string {
	m.Begin()
	m.Reset()
	m.out.Reset()
	m.Main.Push(lua.NativeValue(&lua.Native{Fn: func(t *lua.Thread) int {
		c, err := m.load(t, src, name)
		if err != nil {
			t.Raise(lua.String(err.Error()))
		}
		t.Push(lua.ClosureValue(c))
		t.Call(0, 0)
		return 0
	}}))
	if v, ok := m.Main.Try(0, 0); !ok {
		m.out.WriteString("uncaught " + m.Main.ToString(v).Str() + "\n")
	}
	return m.out.String()
}

var addresses = regexp.MustCompile(`: 0x[0-9a-f]+`)

// The programs print what lua5.1 prints.
func TestPrograms(t *testing.T) {
	programs, err := filepath.Glob("testdata/programs/*.lua")
	require.NoError(t, err)
	require.NotEmpty(t, programs)
	for _, program := range programs {
		src, err := os.ReadFile(program)
		require.NoError(t, err)
		result := strings.TrimSuffix(program, ".lua") + ".txt"
		if *recordPrograms {
			out, err := exec.Command("lua5.1", program).Output()
			require.NoError(t, err, program)
			out = addresses.ReplaceAll(out, []byte(": 0x"))
			require.NoError(t, os.WriteFile(result, out, 0o644))
		}
		want, err := os.ReadFile(result)
		require.NoError(t, err)
		check := func(m *machine, how string) {
			got := addresses.ReplaceAllString(m.run(string(src), "@"+program), ": 0x")
			wants, gots := strings.Split(string(want), "\n"), strings.Split(got, "\n")
			assert.Equal(t, wants, gots, program+how)
		}
		check(newMachine(), "")
		m := newMachine()
		m.MeasureAlways()
		check(m, ", with memory measured again and again")
	}
}
