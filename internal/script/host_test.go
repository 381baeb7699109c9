package script_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/lua/redislib"
	"godwit/internal/resp"
	"godwit/internal/script"
)

// fake is a server whose commands answer their arguments. Like a real one it takes any number of
// arguments: the fuzz targets find a call without any.
type fake struct {
	w     resp.Writer
	stop  error
	calls int
	logs  []string
	fails []string
	// lenient says that scripts may go on until they call the command stop.
	lenient bool
}

func (f *fake) Call(argv [][]byte, proto int) (reply []byte, refused string) {
	f.calls++
	f.w.Buf, f.w.Proto = f.w.Buf[:0], proto
	switch string(argv[0]) {
	case "stop":
		f.lenient = false
		f.w.Simple("OK")
	case "many": // pieces of 1 MB each, behind the first line that is given
		f.w.Buf = append(append(f.w.Buf, argv[1]...), "\r\n"...)
		for i := range 100 {
			f.w.Bulk(append(make([]byte, 1e6), strconv.Itoa(i)...))
		}
	case "types":
		f.w.Buf = append(f.w.Buf, strings.ReplaceAll("*8 %2 $1 k :1 $1 l #t ~2 $1 m +n ,2.5 _ #f "+
			"*0 %0 $-1 ", " ", "\r\n")...)
	case "vast":
		return nil, ""
	case "refuse":
		return nil, "ERR refused"
	case "deny":
		return nil, "DENIED for some reason"
	case "fail":
		f.w.Error("WRONG kind")
	case "get":
		if len(argv) != 2 {
			return nil, "ERR Wrong number of args calling Redis command from script"
		}
		f.w.Bulk(argv[1])
	default:
		f.w.Array(len(argv))
		for _, a := range argv {
			f.w.Bulk(a)
		}
	}
	return f.w.Buf, ""
}

func (f *fake) Allowed(argv [][]byte) (ok, known bool) {
	return string(argv[0]) == "get", string(argv[0]) != "none"
}
func (f *fake) SetRepl(int)             {}
func (f *fake) Failed(m string, _ bool) { f.fails = append(f.fails, m) }
func (f *fake) Log(_ int, msg string)   { f.logs = append(f.logs, msg) }
func (f *fake) Interrupt() error {
	if f.lenient {
		return nil
	}
	return f.stop
}

func newHost(f *fake) *script.Host {
	return script.NewHost(f, script.Options{Version: "7.2.4", VersionNum: 0x070204}, redislib.Open)
}

func eval(t testing.TB, h *script.Host, src string) string {
	sc, err := h.Load([]byte(src), false)
	if err != nil {
		return err.Error()
	}
	var w resp.Writer
	h.Run(sc, nil, nil, &w)
	return string(w.Buf)
}

func TestHost(t *testing.T) {
	f := &fake{}
	h := newHost(f)
	require.Equal(t, "*2\r\n$1\r\na\r\n$3\r\n1.5\r\n", eval(t, h, "return redis.call('a', 1.5)"))
	require.Equal(t, "-WRONG kind\r\n", eval(t, h, "return redis.pcall('fail')"))
	require.Contains(t, eval(t, h, "return redis.call('refuse')"), "-ERR refused script: ")
	require.Equal(t, ":1\r\n", eval(t, h, "return redis.acl_check_cmd('get') and 1 or 0"))
	require.Equal(t, "$-1\r\n", eval(t, h, "redis.log(3, 'a', 1, 'b') return nil"))
	require.Equal(t, []string{"a 1 b"}, f.logs)
	f.stop = errors.New("ERR enough")
	require.Contains(t, eval(t, h, "while true do pcall(function() while true do end end) end"),
		"-ERR enough script: ")
	require.Contains(t, eval(t, h,
		"local f = coroutine.wrap(function() while true do end end) f()"), "-ERR enough script: ")
	f.stop = nil
	require.Equal(t, ":1\r\n", eval(t, h, "return 1"))
}

// TestCache checks that scripts of EVAL come and go, and that those of SCRIPT LOAD stay.
func TestCache(t *testing.T) {
	h := newHost(&fake{})
	kept, err := h.Load([]byte("return 'kept'"), true)
	require.NoError(t, err)
	for i := range 600 {
		eval(t, h, "return "+strings.Repeat("1", i%15+1)+" --"+strings.Repeat("x", i))
	}
	require.Equal(t, 501, h.Len())
	require.EqualValues(t, 100, h.Evicted)
	require.Same(t, kept, h.Find([]byte(strings.ToUpper(kept.SHA))))
	h.Flush()
	require.Zero(t, h.Len())
	require.Zero(t, h.Memory())
	require.Nil(t, h.Find([]byte(kept.SHA)))
}

// TestMemoryBound checks that single instructions that make much are noticed too.
func TestMemoryBound(t *testing.T) {
	h := newHost(&fake{})
	h.BoundMemory(16 << 20)
	for _, src := range []string{
		"local a = {} for i = 1, 1e6 do a[i] = {i} end",
		"local t = {} while true do t = {t} end",
		"local t = {} while true do t[#t+1] = ('x'):rep(10000)..#t end",
		"local t = {} while true do t[#t+1] = redis.call('a',('x'):rep(10000)) end",
		"local t = {} while true do t[#t+1] = redis.pcall('fail') end",
		"local t = {} while true do t[#t+1] = redis.pcall('refuse') end",
		"local t = {} while true do t[#t+1] = redis.pcall() end",
		"local t = {} while true do t[#t+1] = redis.error_reply('x') end",
		"local t = {} while true do t[#t+1] = redis.error_reply() end",
		// sources, of which constants and names are parts
		"local t, s = {}, ('x'):rep(10000) for i = 1, 1e4 do " +
			"t[i] = loadstring('return \"abc\" --'..s..i, '=x') end",
		"local t, s = {}, ('do local a end '):rep(1000) for i = 1, 1e4 do " +
			"t[i] = loadstring(s..i, '=x') or loadstring(s, '=x') end",
		"return coroutine.resume(coroutine.create(function() " +
			"local t = {} while true do t[#t+1] = ('x'):rep(10000)..#t end end))",
	} {
		require.Contains(t, eval(t, h, src), "not enough memory", src)
	}
}

func BenchmarkEval(b *testing.B) {
	h := newHost(&fake{})
	sc, err := h.Load([]byte("return redis.call('get', KEYS[1])"), false)
	require.NoError(b, err)
	keys := [][]byte{[]byte("key:1")}
	var w resp.Writer
	b.ReportAllocs()
	for b.Loop() {
		w.Buf = w.Buf[:0]
		h.Run(sc, keys, nil, &w)
	}
}
