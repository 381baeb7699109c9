package stdlib

import (
	"strings"

	"godwit/internal/lua"
)

// Sizes of a chunk's name in messages as in C, with the terminating zero.
const (
	nameSize     = 60 // at run time
	longNameSize = 80 // of the compiler
)

// ChunkName returns a chunk's name as messages show it. "=name" is the name itself and "@name" that
// of a file; anything else is the source.
func ChunkName(name string) string { return chunkName(name, nameSize) }

// LongChunkName returns a chunk's name as messages of the compiler show it.
func LongChunkName(name string) string { return chunkName(name, longNameSize) }

func chunkName(name string, size int) string {
	name = lua.CString(name)
	switch {
	case name == "":
	case name[0] == '=':
		return name[1:min(len(name), size)]
	case name[0] == '@':
		most := size - len(" '...' ") - 1
		if name = name[1:]; len(name) > most {
			return "..." + name[len(name)-most:]
		}
		return name
	}
	most := size - len(` [string "..."] `) - 1
	line := name[:min(len(name), most)]
	if i := strings.IndexAny(line, "\r\n"); i >= 0 {
		line = line[:i]
	}
	if len(line) < len(name) {
		line += "..."
	}
	return `[string "` + line + `"]`
}

// loader compiles chunks at run time.
type loader struct {
	compile func(t *lua.Thread, src, name string) (*lua.Closure, error)
}

func (l loader) loadString(t *lua.Thread) int {
	src := t.String(1)
	return l.chunk(t, src, t.OptString(2, src))
}

// maxChunk is the longest source that load reads piece by piece.
const maxChunk = 16 << 20

func (l loader) load(t *lua.Thread) int {
	name := t.OptString(2, "=(load)")
	f := t.Function(1)
	x := t.Buffer()
	for {
		t.Push(f)
		held := cap(x.B)
		t.State().Held += held
		v, ok := t.Try(0, 1)
		t.State().Held -= held
		if !ok {
			if t.State().Ended() != nil {
				return t.Throw(v)
			}
			return failed(t, v)
		}
		v = t.Pop()
		piece, ok := lua.ToText(v)
		switch {
		case !ok && !v.IsNil():
			return failed(t, lua.String(t.Where(1)+"reader function must return a string"))
		case piece == "":
			return l.chunk(t, x.End().Str(), name)
		case len(x.B)+len(piece) > maxChunk:
			return failed(t, lua.String("not enough memory"))
		}
		x.Add(piece)
	}
}

// chunk pushes the function of a chunk.
func (l loader) chunk(t *lua.Thread, src, name string) int {
	t.Spend((len(src) + len(name)) / 8)
	if cut := lua.CString(name); len(cut) < len(name) {
		name = t.Copy(cut).Str() // the function keeps it
	}
	c, err := l.compile(t, src, name)
	if err != nil {
		return failed(t, t.Join(err.Error())) // which may quote the source
	}
	return t.Return(lua.ClosureValue(c))
}

// failed pushes nil and an error.
func failed(t *lua.Thread, v lua.Value) int {
	t.Push(lua.Nil)
	t.Push(v)
	return 2
}
