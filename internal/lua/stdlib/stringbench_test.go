package stdlib_test

import (
	"strconv"
	"testing"
)

// BenchmarkString calls functions in a loop of 1,000 turns.
func BenchmarkString(b *testing.B) {
	const turns = 1000
	for _, c := range []struct{ name, code string }{
		{"empty", ""},
		{"sub", "x = sub(s, 2, 9)"},
		{"byte", "x = byte(s, 4)"},
		{"upper", "x = upper(s)"},
		{"find plain", "x = find(s, 'brown', 1, true)"},
		{"find", "x = find(s, 'b%w+n')"},
		{"match", "x = match('key=value', '^([^=]+)=(.*)$')"},
		{"gmatch", "for w in gmatch(s, '%a+') do end"},
		{"gsub", "x = gsub(s, '(%w+)', '<%1>')"},
		{"gsub function", "x = gsub(s, '%w+', F1)"},
		{"format", "x = format('user:%d:%s', i, 'name')"},
		{"format float", "x = format('%.2f', i / 7)"},
		{"number", "x = i / 7 .. ''"},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := newState(b)
			s.ReuseStrings()
			src := `local sub, byte, upper, find, match, gmatch, gsub, format = string.sub,
				string.byte, string.upper, string.find, string.match, string.gmatch, string.gsub,
				string.format
				local s, x = "the quick brown fox jumps" for i = 1, ` + strconv.Itoa(turns) +
				" do " + c.code + " end"
			b.ReportAllocs()
			for range b.N {
				run(s, src)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/turns, "ns/turn")
		})
	}
}
