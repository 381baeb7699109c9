package resp_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"godwit/internal/resp"
	"godwit/internal/resp/client"
	"godwit/internal/testseed"
	"godwit/internal/testserver"
)

// startRedis runs a real redis-server and returns its socket's path.
func startRedis(t *testing.T, args ...string) string {
	t.Helper()
	return testserver.StartRedis(t, "", args...).Socket
}

// ask sends raw bytes, closes the sending side and returns all that comes back.
func ask(t *testing.T, sock string, raw []byte) string {
	t.Helper()
	conn, err := net.Dial("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(raw); err != nil && !errors.Is(err, syscall.EPIPE) {
		t.Fatal(err)
	}
	if err := conn.(*net.UnixConn).CloseWrite(); err != nil && !errors.Is(err, syscall.ENOTCONN) {
		t.Fatal(err)
	}
	out, err := io.ReadAll(conn)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Fatal(err)
	}
	return string(out)
}

// answer returns what a server with this package's parser sends for raw. It knows as few of the
// commands as Redis does: the error for an unknown command shows how the arguments were read.
func answer(raw []byte, lim *resp.Limits) string {
	var p resp.Parser
	w := resp.Writer{Proto: 2}
	for {
		argv, n, err := p.Next(raw, lim)
		switch {
		case err != nil:
			w.Error("ERR " + err.Error())
			return string(w.Buf)
		case argv == nil:
			return string(w.Buf)
		case len(argv) > 0:
			w.Error(unknown(argv))
		}
		raw = raw[n:]
	}
}

func unknown(argv [][]byte) string {
	cut := func(b []byte, most int) []byte {
		if i := bytes.IndexByte(b, 0); i >= 0 {
			b = b[:i] // printed as C strings
		}
		return b[:min(len(b), max(most, 0))]
	}
	args := ""
	for _, a := range argv[1:] {
		if len(args) >= 128 {
			break
		}
		args += fmt.Sprintf("'%s' ", cut(a, 128-len(args)))
	}
	return fmt.Sprintf("ERR unknown command '%s', with args beginning with: %s", cut(argv[0], 128),
		args)
}

func TestRequestsAgainstRedis(t *testing.T) {
	sock := startRedis(t)
	lim := &resp.Limits{Authenticated: true}
	long := strings.Repeat("1", 64<<10)
	inputs := []string{
		"*x\r\n", "*\r\n", "*+1\r\n", "* 1\r\n", "*1 \r\n", "*01\r\n", "*-0\r\n",
		"*1\n$4\r\nXING\r\n", "*1\n", "*2147483647\r\n", "*2147483648\r\n", "*1048577\r\n",
		"*9223372036854775807\r\n", "*9223372036854775808\r\n", "*-1\r\nx\n",
		"*-9223372036854775808\r\nx\n", "*-9223372036854775809\r\n", "*0\r\nx\n",
		"*1\r\n:4\r\n", "*1\r\n\r\n", "*1\r\n\n\r\n", "*1\r\nX\r\n", "*1\r\n$\r\n", "*1\r\n$-1\r\n",
		"*1\r\n$5x\r\n", "*1\r\n$+4\r\n", "*1\r\n$04\r\n", "*1\r\n$4\nXING\r\n",
		"*1\r\n$536870912\r\n", "*1\r\n$536870913\r\n",
		"*1\r\n$00000000000000000000000001\r\nx\r\n", "*" + long, "*1\r\n$" + long, long + "1",
		long + "\n", "*" + long[:100] + "\r\n", "X\x00\nY\n", "*1\x00\r\n",
		"*1\r\n$4\r\nXINGzz*1\r\n$1\r\nx\r\n", "*1\rX$4\rYXINGZZx\n", "*1\r\nX\r", "*1\r\nX",
		"$4\r\nXING\r\n", "\n\r\n \r\nx\n", "x \"a\r\n", "x \"a\"b\n", "x 'a'b\n", "x 'a\\'\n",
		"x \"a\" 'b'\n", "x a\"b c\"\n", "x \"\\x41\\x7f\\xff\\x4\\xzz\\n\\q\"\n", "x \"\\x\"\n",
		"x 'it\\'s' '\\n'\n", "x\ta\vb\fc\rd\n", "x \"\" ''\n", "\"\"\n", "*1\r\n$0\r\n\r\n",
		"*2\r\n$1\r\nx\r\n$0\r\n\r\n", "x \"\\x00\" y\n",
	}
	for _, in := range inputs {
		if got, want := answer([]byte(in), lim), ask(t, sock, []byte(in)); got != want {
			t.Errorf("%.60q: %q, Redis answers %q", in, got, want)
		}
	}
	rnd, runs := seeded(t), 400
	if s := os.Getenv("RUNS"); s != "" {
		runs, _ = strconv.Atoi(s)
	}
	for range runs {
		in := randomRequest(rnd)
		if got, want := answer(in, lim), ask(t, sock, in); got != want {
			t.Fatalf("%q: %q, Redis answers %q", in, got, want)
		}
	}
}

func TestStrangersAgainstRedis(t *testing.T) {
	sock := startRedis(t, "--requirepass", "secret")
	for _, in := range []string{"*10\r\n", "*11\r\n", "*11\r\n$1\r\nx\r\n", "*2147483648\r\n",
		"*1\r\n$16384\r\n", "*1\r\n$16385\r\n", "*1\r\n$536870913\r\n"} {
		if got, want := answer([]byte(in), &resp.Limits{}), ask(t, sock, []byte(in)); got != want {
			t.Errorf("%q: %q, Redis answers %q", in, got, want)
		}
	}
}

func TestMaxBulkAgainstRedis(t *testing.T) {
	sock := startRedis(t, "--proto-max-bulk-len", "1mb")
	lim := &resp.Limits{Authenticated: true, MaxBulk: 1 << 20}
	for _, in := range []string{"*1\r\n$1048576\r\n", "*1\r\n$1048577\r\n"} {
		if got, want := answer([]byte(in), lim), ask(t, sock, []byte(in)); got != want {
			t.Errorf("%q: %q, Redis answers %q", in, got, want)
		}
	}
}

// randomRequest strings together pieces that mean something to the parser. Redis knows none of the
// commands it makes, because none is longer than a letter or two.
func randomRequest(rnd *rand.Rand) []byte {
	pieces := []string{"*", "*1\r\n", "*2\r\n", "*3\r\n", "$", "$1\r\nx\r\n", "$2\r\ny\n\r\n",
		"$0\r\n\r\n", "\r\n", "\n", "\r", " ", "\"", "'", "\\", "\\x4",
		"\\'", "\\n", "x", "1", "0", "-", "+", "\x00", "\t", "\v", "x ", "\xff", "q \"", "\" "}
	var b []byte
	for range 1 + rnd.IntN(12) {
		b = append(b, pieces[rnd.IntN(len(pieces))]...)
	}
	return append(b, "\r\n"...)
}

func seeded(t *testing.T) *rand.Rand {
	seed := testseed.New(t)
	if s := os.Getenv("SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	t.Logf("SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// TestDoublesAgainstRedis stores doubles as scores and compares the replies in both protocols. The
// set is a skiplist: a listpack would keep -0 as the integer 0.
func TestDoublesAgainstRedis(t *testing.T) {
	redis := testserver.Redis
	sock := redis.Start(t, "", "--zset-max-listpack-entries", "0").Socket
	c, err := client.Dial("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	rnd := seeded(t)
	for proto := 2; proto <= 3; proto++ {
		if v, err := c.Do("HELLO", proto); err != nil || v.IsError() {
			t.Fatal(v, err)
		}
		fs := []float64{0, math.Copysign(0, -1), 1, 1e16, 1e17, -1e17, 1e17 - 16, 1e15 + 0.5, 0.1,
			0.0001, 0.00001, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1),
			math.Inf(-1), 1 << 62, 1<<62 + 1024, -1 << 63}
		for range 4000 {
			f := math.Float64frombits(rnd.Uint64())
			switch rnd.IntN(6) {
			case 0:
				f = float64(rnd.Int64()>>rnd.IntN(63)) / float64(int64(1)<<rnd.IntN(10))
			case 1:
				f = math.Round(rnd.NormFloat64()*1e6) / 1e3
			case 2:
				f = float64(rnd.IntN(1e6)) * math.Pow(10, float64(rnd.IntN(50)-25))
			case 3:
				f = math.Pow(10, float64(15+rnd.IntN(8))) + float64(rnd.IntN(1e6))
			case 4:
				f = math.Float64frombits(rnd.Uint64() >> 12) // subnormal
			}
			if !math.IsNaN(f) {
				fs = append(fs, f)
			}
		}
		for _, f := range fs {
			c.Queue("DEL", "z") // or a change from 0 to -0 would be none
			c.Queue("ZADD", "z", f, "m")
			c.Queue("ZSCORE", "z", "m")
		}
		out, err := c.Pipeline()
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range fs {
			w := resp.Writer{Proto: proto}
			w.Double(f)
			if want := out[3*i+2].Append(nil); !bytes.Equal(w.Buf, want) {
				redis.TB(t).Fatalf("RESP%d, %v: %q, Redis answers %q", proto, f, w.Buf, want)
			}
		}
	}
}

// TestWriterAgainstRedis compares every type with what DEBUG PROTOCOL shows in both versions.
func TestWriterAgainstRedis(t *testing.T) {
	sock := startRedis(t, "--enable-debug-command", "yes")
	types := map[string]func(w *resp.Writer){
		"string":  func(w *resp.Writer) { w.BulkString("Hello World") },
		"integer": func(w *resp.Writer) { w.Int(12345) },
		"double":  func(w *resp.Writer) { w.Double(3.141) },
		"null":    func(w *resp.Writer) { w.Null() },
		"array":   func(w *resp.Writer) { w.Array(3); count(w) },
		"set":     func(w *resp.Writer) { w.Set(3); count(w) },
		"map": func(w *resp.Writer) {
			w.Map(3)
			for i := range 3 {
				w.Int(int64(i))
				w.Bool(i == 1)
			}
		},
		"attrib": func(w *resp.Writer) {
			if w.Attr(1) {
				w.BulkString("key-popularity")
				w.Array(2)
				w.BulkString("key:123")
				w.Int(90)
			}
			w.BulkString("Some real reply following the attribute")
		},
		"push": func(w *resp.Writer) {
			if w.Proto != 3 {
				w.Error("ERR RESP2 is not supported by this command")
				return
			}
			w.Push(2)
			w.BulkString("server-cpu-usage")
			w.Int(42)
			w.BulkString("Some real reply following the push reply")
		},
		"verbatim": func(w *resp.Writer) { w.Verbatim("txt", "This is a verbatim\nstring") },
		"bignum":   func(w *resp.Writer) { w.BigNumber("1234567999999999999999999999999999999") },
		"true":     func(w *resp.Writer) { w.Bool(true) },
		"false":    func(w *resp.Writer) { w.Bool(false) },
	}
	for proto := 2; proto <= 3; proto++ {
		for name, write := range types {
			in := fmt.Sprintf("HELLO %d\r\nECHO mark\r\nDEBUG PROTOCOL %s\r\n", proto, name)
			_, want, ok := strings.Cut(ask(t, sock, []byte(in)), "$4\r\nmark\r\n")
			w := resp.Writer{Proto: proto}
			write(&w)
			if !ok || string(w.Buf) != want {
				t.Errorf("%s in RESP%d: %q, Redis answers %q", name, proto, w.Buf, want)
			}
		}
	}
}

func count(w *resp.Writer) {
	for i := range 3 {
		w.Int(int64(i))
	}
}
