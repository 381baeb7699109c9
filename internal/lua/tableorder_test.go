package lua

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	record = flag.Bool("record", false, "write testdata/tables.txt anew, with lua5.1")
	orders = flag.Int("orders", 300, "number of random sequences to compare with lua5.1")
)

// tables is a line interpreter of operations on one table. testdata/tables.lua is the same for
// lua5.1: both print the order of next, borders and values. An operation is a line of words:
//
//	c 1,nil,3 sx:7   a constructor: values of a list, keys with values
//	s k v | d k      t[k] = v, t[k] = nil
//	g k              prints t[k]
//	a v | p          t[#t+1] = v, t[#t] = nil
//	l                prints #t
//	n k              prints the value behind key k
//	f from to by v   a numeric loop of t[i] = v
//	w                prints all values
//	x m | u m        the same, while removing those that m does not divide, adding m to each
//	i n k v          the same, with t[k] = v after n values
//
// Keys are nNUMBER, sSTRING, bt or bf.
type tables struct {
	t   *Table
	out strings.Builder
}

func (ts *tables) run(line string) {
	w := strings.Fields(line)
	num := func(i int) int {
		n, _ := strconv.Atoi(w[i])
		return n
	}
	switch w[0] {
	case "c":
		ts.construct(w[1], w[2:])
	case "s":
		ts.set(tableKey(w[1]), Int(num(2)))
	case "d":
		ts.set(tableKey(w[1]), Nil)
	case "g":
		fmt.Fprintln(&ts.out, showValue(ts.t.Get(tableKey(w[1]))))
	case "a":
		ts.set(Int(ts.t.Len()+1), Int(num(1)))
	case "p":
		ts.set(Int(ts.t.Len()), Nil)
	case "l":
		fmt.Fprintln(&ts.out, ts.t.Len())
	case "n":
		if _, v, err := ts.t.Next(tableKey(w[1])); err != nil {
			fmt.Fprintln(&ts.out, "error")
		} else {
			fmt.Fprintln(&ts.out, showValue(v))
		}
	case "f":
		v, step := Nil, num(3)
		if w[4] != "nil" {
			v = Int(num(4))
		}
		for i := num(1); step > 0 && i <= num(2) || step < 0 && i >= num(2); i += step {
			ts.set(Int(i), v)
		}
	case "w":
		ts.walk(func(Value, Value, int) {})
	case "x":
		ts.walk(func(k, v Value, _ int) {
			if int(v.Num())%num(1) != 0 {
				ts.set(k, Nil)
			}
		})
	case "u":
		ts.walk(func(k, v Value, _ int) { ts.set(k, Number(v.Num()+float64(num(1)))) })
	case "i":
		ts.walk(func(_, _ Value, n int) {
			if n == num(1) {
				ts.set(tableKey(w[2]), Int(num(3)))
			}
		})
	}
}

func tableKey(s string) Value {
	switch s[0] {
	case 'n':
		f, _ := strconv.ParseFloat(s[1:], 64)
		return Number(f)
	case 'b':
		return Bool(s[1:] == "t")
	}
	return String(strings.Clone(s[1:])) // not where the key is
}

func showValue(v Value) string {
	if v.IsNil() {
		return "nil"
	}
	return strconv.Itoa(int(v.Num()))
}

// set takes the different ways to set a key by turns.
func (ts *tables) set(k, v Value) {
	switch {
	case k.IsString() && !v.IsNil():
		if p := ts.t.settable(k, HashString(k.Str())); p != nil {
			p.set(v)
			return
		}
	case k.IsNumber() && int(v.Num())%2 == 0:
		if p := ts.t.settableNumber(k.Num()); p != nil {
			p.set(v)
			return
		}
	case intKey(k) != 0:
		_ = ts.t.setInt(intKey(k), v, nil)
		return
	}
	_ = ts.t.set(k, v, nil)
}

// walk prints the values in the order of Next. It checks that of NextFrom with any hint.
func (ts *tables) walk(fn func(k, v Value, n int)) {
	k, hint := Nil, 0
	for n := 1; ; n++ {
		next, key, v, err := ts.t.NextFrom(hint, k)
		if err != nil {
			ts.out.WriteString("error\n")
			return
		}
		for i := hint - 2; i < hint+3; i++ {
			if _, same, _, _ := ts.t.NextFrom(i, k); !RawEqual(same, key) {
				ts.out.WriteString("NextFrom differs ")
			}
		}
		ts.out.WriteString(showValue(v))
		if key.IsNil() {
			ts.out.WriteByte('\n')
			return
		}
		ts.out.WriteByte(' ')
		fn(key, v, n)
		k, hint = key, next
	}
}

// construct does what the code of a constructor does.
func (ts *tables) construct(list string, keyed []string) {
	values := strings.Split(list, ",")
	if list == "-" {
		values = nil
	}
	ts.t = NewTable(roundSize(len(values)), roundSize(len(keyed)))
	stored, pending := 0, 0
	flush := func() {
		_ = ts.t.reserveArray(stored+pending, nil)
		for i := stored + pending; i > stored; i-- {
			v := Nil
			if n, err := strconv.Atoi(values[i-1]); err == nil {
				v = Int(n)
			}
			_ = ts.t.setInt(i, v, nil)
		}
		stored, pending = stored+pending, 0
	}
	for range values {
		if pending == 50 {
			flush()
		}
		pending++
	}
	for _, kv := range keyed {
		if pending == 50 {
			flush()
		}
		k, v, _ := strings.Cut(kv, ":")
		n, _ := strconv.Atoi(v)
		ts.set(tableKey(k), Int(n))
	}
	if pending > 0 {
		flush()
	}
}

// roundSize rounds a size up as the instruction NEWTABLE does.
func roundSize(n int) int {
	e := 0
	for n >= 16 {
		n, e = (n+1)>>1, e+1
	}
	return n << e
}

// runTables runs operations and returns what they print, a string for each sequence.
func runTables(t *testing.T, sequences []string) []string {
	var out []string
	for _, s := range sequences {
		ts := tables{t: NewTable(0, 0)}
		for line := range strings.Lines(s) {
			ts.run(line)
			require.NoError(t, ts.t.check(), s)
		}
		out = append(out, ts.out.String())
	}
	return out
}

// runLua is runTables by lua5.1.
func runLua(t *testing.T, sequences []string) []string {
	lua, err := exec.LookPath("lua5.1")
	if err != nil {
		t.Skip("lua5.1 is not installed")
	}
	cmd := exec.Command(lua, "testdata/tables.lua")
	cmd.Stderr = os.Stderr
	const mark = "g s-mark" // prints nil, but where the output is split
	var in bytes.Buffer
	for _, s := range sequences {
		in.WriteString("c -\n" + s + "c -\ns s-mark 424242424242\n" + mark + "\n")
	}
	cmd.Stdin = &in
	out, err := cmd.Output()
	require.NoError(t, err)
	parts := strings.Split(string(out), "424242424242\n")
	require.Len(t, parts, len(sequences)+1)
	return parts[:len(sequences)]
}

// TestTableOrder compares random sequences of operations with lua5.1.
func TestTableOrder(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	sequences := make([]string, *orders)
	for i := range sequences {
		sequences[i] = randomTable(r)
	}
	want := runLua(t, sequences)
	for i, got := range runTables(t, sequences) {
		require.Equal(t, want[i], got, "seed %d, sequence %d:\n%s", seed, i, sequences[i])
	}
}

// TestRecordedTables runs sequences whose output by lua5.1 was recorded: lines behind "=".
func TestRecordedTables(t *testing.T) {
	const path = "testdata/tables.txt"
	if *record {
		recordTables(t, path)
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var sequences, want []string
	for _, part := range strings.Split(strings.TrimSuffix(string(text), "\n---\n"), "\n---\n") {
		ops, out, _ := strings.Cut(part+"\n", "=\n")
		sequences, want = append(sequences, ops), append(want, out)
	}
	require.Greater(t, len(sequences), 50)
	for i, got := range runTables(t, sequences) {
		require.Equal(t, want[i], got, "sequence %d:\n%s", i, sequences[i])
	}
}

func recordTables(t *testing.T, path string) {
	r := rand.New(rand.NewPCG(1, 1))
	var sequences []string
	for range 100 {
		if s := randomTable(r); len(s) < 3000 {
			sequences = append(sequences, s)
		}
	}
	var b bytes.Buffer
	for i, out := range runLua(t, sequences) {
		if len(out) < 3000 {
			b.WriteString(sequences[i] + "=\n" + out + "---\n")
		}
	}
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
}

// randomTable returns a sequence of operations.
func randomTable(r *rand.Rand) string {
	var b strings.Builder
	g := tableGen{r: r, ints: 1 << r.IntN(9), strings: 1 + r.IntN(60), mix: r.IntN(4)}
	if r.IntN(2) == 0 {
		b.WriteString(g.constructor())
	}
	for range 3 + r.IntN(100) {
		b.WriteString(g.op())
		b.WriteByte('\n')
	}
	b.WriteString("l\nw\n")
	return b.String()
}

type tableGen struct {
	r             *rand.Rand
	ints, strings int
	mix           int // what keys are preferred
	value         int
}

// next returns a new value.
func (g *tableGen) next() int {
	g.value++
	return g.value
}

func (g *tableGen) key() string {
	kind := g.r.IntN(10)
	switch {
	case kind == 0:
		return [...]string{"bt", "bf", "n0", "n-0", "n0.5", "n1e300", "n-1", "n4294967296", "n-2.5",
			"n2147483648", "n67108864", "n67108865", "n1e15"}[g.r.IntN(13)]
	case kind == 1:
		return fmt.Sprintf("n%d", 1<<g.r.IntN(27))
	case kind == 2:
		return fmt.Sprintf("n%g", float64(g.r.IntN(g.ints))/4)
	case kind < 3+g.mix*2:
		return fmt.Sprintf("n%d", 1+g.r.IntN(g.ints))
	case kind == 9:
		n := g.r.IntN(g.strings)
		return fmt.Sprintf("s%0*d", 20+n%12, n) // lua5.1 does not hash all of 32 bytes or more
	}
	return fmt.Sprintf("skey%d", g.r.IntN(g.strings))
}

func (g *tableGen) constructor() string {
	n := []int{g.r.IntN(5), g.r.IntN(60), g.r.IntN(130)}[g.r.IntN(3)]
	list := make([]string, n)
	for i := range list {
		list[i] = strconv.Itoa(g.next())
		if g.r.IntN(6) == 0 {
			list[i] = "nil"
		}
	}
	b := "c " + strings.Join(list, ",")
	if n == 0 {
		b = "c -"
	}
	for range g.r.IntN(6) {
		if k := g.key(); k[0] != 'b' {
			b += fmt.Sprintf(" %s:%d", k, g.next())
		}
	}
	return b + "\n"
}

func (g *tableGen) op() string {
	switch n := g.r.IntN(40); {
	case n < 14:
		return fmt.Sprintf("s %s %d", g.key(), g.next())
	case n < 20:
		return "d " + g.key()
	case n < 24:
		return fmt.Sprintf("a %d", g.next())
	case n < 26:
		return "p"
	case n < 29:
		return "l"
	case n < 31:
		return "g " + g.key()
	case n < 33:
		return "n " + g.key()
	case n < 34:
		return "w"
	case n < 35:
		return fmt.Sprintf("x %d", 1+g.r.IntN(3))
	case n < 36:
		return fmt.Sprintf("i %d %s %d", 1+g.r.IntN(9), g.key(), g.next())
	case n < 37:
		return "u 1000"
	}
	from, to, v := 1+g.r.IntN(g.ints), 1+g.r.IntN(g.ints), strconv.Itoa(g.next())
	step := []int{1, 1, 1, 2, 3}[g.r.IntN(5)]
	if to < from {
		step = -step
	}
	if g.r.IntN(3) == 0 {
		v = "nil"
	}
	return fmt.Sprintf("f %d %d %d %s", from, to, step, v)
}
