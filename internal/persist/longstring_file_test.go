package persist

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/object"
	"godwit/internal/testseed"
	"godwit/internal/vfs"
)

// longValues returns strings around the lengths of pieces, compressible and not.
func longValues(rng *rand.Rand) map[string][]byte {
	const piece = 64 << 10
	noise := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	far := noise(3000) // repeated so far away that only history finds it at a cut
	return map[string][]byte{
		"zeros":        make([]byte, 3*piece),
		"one less":     bytes.Repeat([]byte("abcdefg"), piece/7+1)[:piece-1],
		"one piece":    bytes.Repeat([]byte("abcdefg"), piece/7+1)[:piece],
		"one more":     bytes.Repeat([]byte("abcdefg"), piece/7+1)[:piece+1],
		"far":          bytes.Repeat(far, 100),
		"noise":        noise(5*piece + 77),
		"noise first":  append(noise(piece), make([]byte, 4*piece)...),
		"noise last":   append(make([]byte, 4*piece), noise(piece)...),
		"hopeless":     append(noise(5<<20), make([]byte, 1<<20)...),
		"hardly worth": append(noise(piece), bytes.Repeat([]byte{'x'}, 2050)...),
	}
}

// TestLongStringsInFiles reads long strings back from a file, and looks at what they take there.
func TestLongStringsInFiles(t *testing.T) {
	rng := testseed.Rand(t)
	for name, value := range longValues(rng) {
		for _, compress := range []bool{true, false} {
			ks := newKeyspace(rng, tiny())
			ks.DB(0).Set([]byte("before"), object.RawValue([]byte("first")), 0)
			ks.DB(1).Set([]byte("k"), object.RawValue(value), ks.Now()+5000)
			ks.DB(2).Set([]byte("behind"), object.RawValue([]byte("last")), 0)
			want := contents(ks)
			fsys := vfs.NewMem()
			f := NewRDBFormat(ks, RDBOptions{Compress: compress})
			dest, err := NewFileDest(fsys,
				FileOptions{Temp: "t", Final: "dump.rdb", RDB: f, Checksum: true})
			require.NoError(t, err)
			require.NoError(t, Start(ks, f, NewQueue(dest, nil), Options{LongString: 20_000}).Run())
			file, err := vfs.ReadFile(fsys, "dump.rdb")
			require.NoError(t, err)

			loaded := newKeyspace(rng, tiny())
			loaded.SetNow(0)
			loadInto(t, loaded, file)
			require.Equal(t, want, contents(loaded), "%s, compressed: %t", name, compress)
			if !compress || name == "noise" || name == "hopeless" || name == "hardly worth" {
				require.Contains(t, string(file), string(value), "%s: not as it is", name)
				continue
			}
			// The compressed data are not much more than those of the string as a whole.
			whole := f.Pack(f.Key(nil, ks.DB(1).Lookup([]byte("k"))))
			require.Less(t, len(whole), len(value), name)
			require.Less(t, len(file), len(whole)+len(whole)/2+400, name)
		}
	}
}
