package resp

import (
	"math"
	"testing"
)

// writerTests returns a case for each method of Writer. An empty resp3 means that it equals resp2.
func writerTests() []writerTest {
	return []writerTest{
		{"OK", func(w *Writer) { w.OK() }, "+OK\r\n", ""},
		{"Simple", func(w *Writer) { w.Simple("PO\r\nNG") }, "+PO  NG\r\n", ""},
		{"Error", func(w *Writer) { w.Error("ERR no\r\n:1") }, "-ERR no  :1\r\n", ""},
		{"Error plain", func(w *Writer) {
			w.Error("WRONGTYPE x")
			w.Simple("PONG")
		}, "-WRONGTYPE x\r\n+PONG\r\n", ""},
		{"Error at the end", func(w *Writer) { w.Error("ERR no\r\n") }, "-ERR no\r\n", ""},
		{"Int", func(w *Writer) {
			w.Int(7)
			w.Int(-1)
			w.Int(math.MinInt64)
		}, ":7\r\n:-1\r\n:-9223372036854775808\r\n", ""},
		{"Bulk", func(w *Writer) {
			w.Bulk([]byte("a\r\nb"))
			w.Bulk(nil)
		}, "$4\r\na\r\nb\r\n$0\r\n\r\n", ""},
		{"BulkString", func(w *Writer) {
			w.BulkString("abcdefghijkl")
		}, "$12\r\nabcdefghijkl\r\n", ""},
		{"BulkInt", func(w *Writer) {
			w.BulkInt(0)
			w.BulkInt(math.MinInt64)
		}, "$1\r\n0\r\n$20\r\n-9223372036854775808\r\n", ""},
		{"Null", func(w *Writer) { w.Null() }, "$-1\r\n", "_\r\n"},
		{"NullArray", func(w *Writer) { w.NullArray() }, "*-1\r\n", "_\r\n"},
		{"Array", func(w *Writer) { w.Array(0); w.Array(12) }, "*0\r\n*12\r\n", ""},
		{"Map", func(w *Writer) { w.Map(6) }, "*12\r\n", "%6\r\n"},
		{"Set", func(w *Writer) { w.Set(12) }, "*12\r\n", "~12\r\n"},
		{"Push", func(w *Writer) { w.Push(3) }, "*3\r\n", ">3\r\n"},
		{"Attr", func(w *Writer) {
			if w.Attr(1) {
				w.Raw([]byte("+k\r\n+v\r\n"))
			}
			w.Int(1)
		}, ":1\r\n", "|1\r\n+k\r\n+v\r\n:1\r\n"},
		{"Double", func(w *Writer) {
			w.Double(0.1)
		}, "$3\r\n0.1\r\n", ",0.1\r\n"},
		{"Double infinite", func(w *Writer) {
			w.Double(math.Inf(-1))
		}, "$4\r\n-inf\r\n", ",-inf\r\n"},
		{"DoubleText", func(w *Writer) {
			w.DoubleText([]byte("3.0"))
		}, "$3\r\n3.0\r\n", ",3.0\r\n"},
		{"Bool", func(w *Writer) { w.Bool(true); w.Bool(false) }, ":1\r\n:0\r\n", "#t\r\n#f\r\n"},
		{"BigNumber", func(w *Writer) { w.BigNumber("-123") }, "$4\r\n-123\r\n", "(-123\r\n"},
		{"Verbatim", func(w *Writer) {
			w.Verbatim("txt", "some text")
		}, "$9\r\nsome text\r\n", "=13\r\ntxt:some text\r\n"},
	}
}

// writerTest is something to write, and what must come out in both versions of the protocol.
type writerTest struct {
	name         string
	write        func(w *Writer)
	resp2, resp3 string
}

func TestWriter(t *testing.T) {
	for _, tt := range writerTests() {
		if tt.resp3 == "" {
			tt.resp3 = tt.resp2
		}
		for proto, want := range map[int]string{0: tt.resp2, 2: tt.resp2, 3: tt.resp3} {
			w := Writer{Proto: proto, Buf: []byte("before")}
			tt.write(&w)
			if string(w.Buf) != "before"+want {
				t.Errorf("%s, RESP%d: %q, want %q", tt.name, proto, w.Buf, "before"+want)
			}
			n := testing.AllocsPerRun(10, func() { w.Buf = w.Buf[:0]; tt.write(&w) })
			// Those two rewrite a string with line ends.
			if n != 0 && tt.name != "Simple" && tt.name != "Error" {
				t.Errorf("%s, RESP%d: %v allocations", tt.name, proto, n)
			}
		}
	}
}

func TestAppendCommandReadsBack(t *testing.T) {
	in := AppendCommand([]byte("PING\r\n"), []byte("SET"), nil, []byte("a\r\nb"))
	if want := "PING\r\n*3\r\n$3\r\nSET\r\n$0\r\n\r\n$4\r\na\r\nb\r\n"; string(in) != want {
		t.Fatalf("%q, want %q", in, want)
	}
}
