package compiler

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua/luagen"
	"godwit/internal/testseed"
)

// This file compares the code of random programs with that of Lua's own compiler: operations,
// registers, constants, lines, the flow of control, scopes of local variables and upvalues.
//
// Both sides are brought to one form. A test and its jump are one instruction. Jumps are left out:
// instead each instruction knows which ones may follow.

// listing is a function in that form.
type listing struct {
	header   string
	slots    int
	code     []instr
	place    []int // by pc: the instruction there, or the next one
	jumps    []int // by pc: where the jump leads that was there; 0 if there was none
	locals   []local
	upvalues []string
}

// local is a local variable; from and to are places of instructions.
type local struct {
	name     string
	from, to int
}

// instr is an instruction. args are registers, numbers, or constants as text.
type instr struct {
	line int
	op   string
	args []string
	next []int // the pc, then the place, of what may follow
}

func (i instr) String() string { return fmt.Sprint(i.line, " ", i.op, i.args) }

func TestAgainstLuac(t *testing.T) {
	if _, err := exec.LookPath("luac5.1"); err != nil {
		t.Skip("luac5.1 is not installed")
	}
	r := testseed.Rand(t)
	var srcs []string
	for range 40 {
		for _, src := range []string{luagen.Valid(r), luagen.Program(r)} {
			if _, err := Compile(src, "c", nil); err == nil {
				srcs = append(srcs, src)
			} else { // now and then strings within strings, or dots, make it invalid
				requireRefused(t, src)
			}
		}
	}
	compareWithLuac(t, append(srcs, snippets()...))
}

// requireRefused checks that luac refuses a program.
func requireRefused(t *testing.T, src string) {
	cmd := exec.Command("luac5.1", "-p", "-")
	cmd.Stdin = strings.NewReader(src)
	require.Error(t, cmd.Run(), src)
}

// compareWithLuac compares the code of programs, which must be valid.
func compareWithLuac(t *testing.T, srcs []string) {
	dir := t.TempDir()
	args := []string{"-l", "-l", "-p"}
	for i, src := range srcs {
		name := filepath.Join(dir, strconv.Itoa(i))
		require.NoError(t, os.WriteFile(name, []byte(src), 0o600))
		args = append(args, name)
	}
	out, err := exec.Command("luac5.1", args...).CombinedOutput()
	require.NoError(t, err, string(out[:min(len(out), 500)]))
	theirs := parseListings(string(out))[1:] // luac's own main function calls those of the files
	for _, src := range srcs {
		p, err := Compile(src, "c", nil)
		require.NoError(t, err, src)
		for _, ours := range listings(p) {
			diff := ours.differs(theirs[0])
			if diff != "" {
				t.Fatalf("%s\n%s\n%s", src[:min(len(src), 500)], protoText(p), diff)
			}
			theirs = theirs[1:]
		}
	}
	require.Empty(t, theirs)
}

// end makes the places after the last instruction known and turns each pc into a place.
func (l *listing) end() {
	l.mark(0)
	for i := range l.code {
		for n, pc := range l.code[i].next {
			l.code[i].next[n] = l.follow(pc)
		}
	}
	for i := range l.locals {
		v := &l.locals[i]
		v.from, v.to = l.place[v.from], l.place[v.to]
	}
}

// mark records what is at the next pc: an instruction, or a jump to another pc.
func (l *listing) mark(jump int) {
	l.place, l.jumps = append(l.place, len(l.code)), append(l.jumps, jump)
}

// follow returns the place of the instruction that runs first from pc.
func (l *listing) follow(pc int) int {
	for n := 0; l.jumps[pc] != 0; n++ {
		if pc = l.jumps[pc] - 1; n > len(l.jumps) {
			return -1 // it goes round for ever
		}
	}
	return l.place[pc]
}

// differs describes the first difference. Ours may load a constant that Lua's has as an operand,
// and it makes registers nil that Lua's machine has cleared.
func (l *listing) differs(lua *listing) string {
	if l.header != lua.header || fmt.Sprint(l.upvalues) != fmt.Sprint(lua.upvalues) {
		return fmt.Sprint(l.header, l.upvalues, "; Lua: ", lua.header, lua.upvalues)
	}
	at := make([]int, len(lua.code)+1) // our place of each of Lua's
	j, loads := 0, 0
	for i, want := range lua.code {
		at[i] = j
		loaded := func(j int) bool {
			return !l.code[j].same(want) && l.code[j].isLoad() &&
				l.code[j+1].sameButLoad(want, l.code[j])
		}
		for j < 2 && l.code[j].op == "LOADNIL" && !l.code[j].same(want) && !loaded(j) {
			j++
			at[i] = j
		}
		switch {
		case loaded(j):
			j, loads = j+1, 1
		case j > 0 && !l.code[j].same(want) && l.code[j-1].op == "LOADNIL" &&
			l.code[j].sameButLoad(want, instr{args: l.code[j-1].args[1:]}):
			loads = 1
		case want.op == "LOADNIL" && l.code[j].op == want.op && l.code[j].args[0] == want.args[0]:
			loads = 1 // it has an operand as well
		case !l.code[j].same(want):
			return fmt.Sprintf("%d: %v; Lua: %v", j, l.code[j], want)
		}
		j++
	}
	at[len(lua.code)] = j
	if l.slots < lua.slots || l.slots > lua.slots+loads {
		return fmt.Sprint(l.slots, " registers; Lua: ", lua.slots)
	}
	return l.flowDiffers(lua, at)
}

// flowDiffers compares what may follow each instruction, and the scopes.
func (l *listing) flowDiffers(lua *listing, at []int) string {
	ours := map[int]int{} // Lua's place of each of ours
	for i := range at {
		ours[at[i]] = i
	}
	for i, want := range lua.code {
		j := at[i+1] - 1
		if i == 0 && len(lua.code) == 1 {
			j = len(l.code) - 1
		}
		for n, pc := range want.next {
			if got := l.code[j].next[n]; pc >= 0 && ours[got] != pc || pc < 0 && got >= 0 {
				return fmt.Sprintf("after %d %v: %d; Lua: %d", j, want, got, pc)
			}
		}
	}
	if len(l.locals) != len(lua.locals) {
		return fmt.Sprint("locals ", l.locals, "; Lua: ", lua.locals)
	}
	for i, want := range lua.locals {
		got := l.locals[i]
		if got.name != want.name || got.to != at[want.to] ||
			got.from != at[want.from] && got.from > 2 {
			return fmt.Sprint("local ", got, "; Lua: ", want)
		}
	}
	return ""
}

func (i instr) same(lua instr) bool { return i.String() == lua.String() }

func (i instr) isLoad() bool { return strings.HasPrefix(i.op, "LOAD") && i.args[0] != "" }

// sameButLoad reports whether the operand that load has put into a register is constant in Lua's.
func (i instr) sameButLoad(lua, load instr) bool {
	value := "Knil"
	switch load.op {
	case "LOADK":
		value = load.args[1]
	case "LOADBOOL":
		value = map[string]string{"0": "Kfalse", "1": "Ktrue"}[load.args[1]]
	}
	i.args = slices.Clone(i.args)
	for n, a := range i.args {
		if a == load.args[0] && n > 0 {
			i.args[n] = value
			if i.op == "EQ" && i.args[1] > i.args[2] {
				i.args[1], i.args[2] = i.args[2], i.args[1]
			}
			return i.same(lua)
		}
	}
	return false
}
