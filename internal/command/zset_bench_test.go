package command

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkZSet runs commands on one sorted set of n members of 14 bytes. It includes the handler
// and the reply.
func BenchmarkZSet(b *testing.B) {
	for _, n := range []int{100, 1 << 20} {
		l, r := newLocal(b), rand.New(rand.NewPCG(1, 1))
		arg := func(i int) []byte { return fmt.Appendf(nil, "member:%07d", i) }
		var argv [1 << 12][][]byte
		key := []byte("z")
		for i := range n {
			l.exec([][]byte{[]byte("ZADD"), key, fmt.Append(nil, r.IntN(1<<30)), arg(i)})
		}
		for _, name := range []string{"ZADD", "ZSCORE", "ZRANK", "ZPOPMIN"} {
			for i := range argv {
				argv[i] = [][]byte{[]byte(name), key}
				switch name {
				case "ZADD":
					argv[i] = append(argv[i], fmt.Append(nil, r.IntN(1<<30)), arg(r.IntN(n)))
				case "ZSCORE", "ZRANK":
					argv[i] = append(argv[i], arg(r.IntN(n)))
				}
			}
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for i := range b.N {
					l.exec(argv[i%len(argv)])
				}
			})
		}
	}
}
