package resp

import (
	"fmt"
	"testing"
)

// pipeline returns what a client with 16 commands in flight sends: SET and GET in turn, 64-byte
// values.
func pipeline() []byte {
	var b []byte
	for i := range 8 {
		key := fmt.Appendf(nil, "key:%012d", i)
		b = AppendCommand(b, []byte("SET"), key, make([]byte, 64))
		b = AppendCommand(b, []byte("GET"), key)
	}
	return b
}

func BenchmarkParsePipeline16(b *testing.B) {
	in := pipeline()
	var p Parser
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		for buf := in; len(buf) > 0; {
			argv, n, err := p.Next(buf, open)
			if argv == nil || err != nil {
				b.Fatal(err)
			}
			buf = buf[n:]
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(16*b.N), "ns/command")
}

func BenchmarkParseInline(b *testing.B) {
	in := []byte("SET key:000000000001 \"some value\"\r\n")
	var p Parser
	b.ReportAllocs()
	for b.Loop() {
		if argv, _, err := p.Next(in, open); argv == nil || err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParseManyArgs reads one command in 16 KiB pieces; ns/argument must not grow with n.
func BenchmarkParseManyArgs(b *testing.B) {
	for _, n := range []int{10000, 80000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			in := manyArgs(n)
			var p Parser
			b.ReportAllocs()
			for b.Loop() {
				for fed := 0; fed < len(in); {
					fed = min(fed+16<<10, len(in))
					if _, _, err := p.Next(in[:fed], open); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n*b.N), "ns/argument")
		})
	}
}

func BenchmarkWriteReplies16(b *testing.B) {
	val := make([]byte, 64)
	var w Writer
	b.ReportAllocs()
	for b.Loop() {
		w.Buf = w.Buf[:0]
		for range 8 {
			w.OK()
			w.Bulk(val)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(16*b.N), "ns/reply")
}

func BenchmarkAppendDouble(b *testing.B) {
	for _, f := range []float64{12345, 0.1} {
		b.Run(fmt.Sprint(f), func(b *testing.B) {
			var dst []byte
			b.ReportAllocs()
			for b.Loop() {
				dst = AppendDouble(dst[:0], f)
			}
		})
	}
}
