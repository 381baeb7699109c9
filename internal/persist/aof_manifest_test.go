package persist

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp"
	"godwit/internal/testseed"
	"godwit/internal/vfs"
)

func TestManifestFormat(t *testing.T) {
	m := &manifest{}
	require.Equal(t, "appendonly.aof.1.base.rdb", m.addBase("appendonly.aof", true))
	require.Equal(t, "appendonly.aof.1.incr.aof", m.addIncr("appendonly.aof"))
	require.Equal(t, "appendonly.aof.2.incr.aof", m.addIncr("appendonly.aof"))
	require.Equal(t, "appendonly.aof.2.base.aof", m.addBase("appendonly.aof", false))
	m.retireIncr(1)
	want := "file appendonly.aof.2.base.aof seq 2 type b\n" +
		"file appendonly.aof.1.incr.aof seq 1 type h\n" +
		"file appendonly.aof.1.base.rdb seq 1 type h\n" +
		"file appendonly.aof.2.incr.aof seq 2 type i\n"
	require.Equal(t, want, string(m.append(nil)))
	back, err := parseManifest("m", []byte(want))
	require.NoError(t, err)
	require.Equal(t, m, back)
}

func TestManifestNamesAreQuoted(t *testing.T) {
	for _, name := range []string{"a b", `q"uote`, "tab\t", "nul\x01", "ümlaut", "it's", " lead",
		"file"} {
		m := &manifest{}
		m.addBase(name, true)
		m.addIncr(name)
		back, err := parseManifest("m", m.append(nil))
		require.NoError(t, err, "%q", name)
		require.Equal(t, m, back, "%q", name)
	}
}

func TestManifestAccepts(t *testing.T) {
	m, err := parseManifest("m", []byte("# a comment\n#\n"+
		"file \"x.1.base.rdb\" SEQ 1 TYPE b\r\n"+
		"type i seq 7 file 'x.7.incr.aof' startoffset 100 endoffset 200\n"+
		"  file x.9.incr.aof seq 9 type i newkey newvalue \n"))
	require.NoError(t, err)
	require.Equal(t, "x.1.base.rdb", m.base.name)
	require.Equal(t, []aofFile{{"x.7.incr.aof", 7, 'i'}, {"x.9.incr.aof", 9, 'i'}}, m.incr)
	require.EqualValues(t, 9, m.incrSeq)
}

func TestManifestRefuses(t *testing.T) {
	base := "file b seq 1 type b\n"
	//lint:table a manifest and its error
	for text, want := range map[string]string{
		"":                        "Found an empty AOF manifest",
		"\n":                      "line 1: Invalid AOF manifest file format",
		base + "\n":               "line 2: Invalid AOF manifest file format",
		"file a seq 1 type i":     "line 1: The AOF manifest file contains too long line",
		"# nothing\n":             "The AOF manifest names no file to load",
		"file a seq 1 type h\n":   "The AOF manifest names no file to load",
		"file a seq 1\n":          "line 1: Invalid AOF manifest file format",
		"file a seq 1 type\n":     "line 1: Invalid AOF manifest file format",
		"file a seq 1 type i x\n": "line 1: Invalid AOF manifest file format",
		"file a seq 0 type i\n":   "seq is not a positive number",
		"file a seq -1 type i\n":  "seq is not a positive number",
		"file a seq x type i\n":   "seq is not a positive number",
		"file a seq 99999999999999999999 type i\n":              "seq is not a positive number",
		"file a seq 1 type x\n":                                 "Unknown AOF file type",
		"file a seq 1 type bi\n":                                "Unknown AOF file type",
		"file ../a seq 1 type i\n":                              "File can't be a path, just a filename",
		"file .. seq 1 type i\n":                                "File can't be a path, just a filename",
		"file /etc/passwd seq 1 type h\n":                       "File can't be a path, just a filename",
		"file \"a\\x2fb\" seq 1 type i\n":                       "File can't be a path, just a filename",
		"file \"a seq 1 type i\n":                               "line 1: Invalid AOF manifest file format",
		"file \"a\"b seq 1 type i\n":                            "line 1: Invalid AOF manifest file format",
		"name a seq 1 type i\n":                                 "line 1: Invalid AOF manifest file format",
		base + "file c seq 2 type b\n":                          "line 2: Found duplicate base file information",
		base + "file b seq 2 type i\n":                          "line 2: Found the same file twice",
		"file a seq 2 type i\nfile b seq 2 type i\n":            "line 2: Found a non-monotonic sequence number",
		"file a seq 2 type i\nfile b seq 1 type i\n":            "line 2: Found a non-monotonic sequence number",
		"file " + strings.Repeat("a", 1024) + " seq 1 type i\n": "too long line",
	} {
		_, err := parseManifest("appendonly.aof.manifest", []byte(text))
		require.ErrorContains(t, err, want, "%q", text)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(
		"file appendonly.aof.1.base.rdb seq 1 type b\n" +
			"file appendonly.aof.1.incr.aof seq 1 type i\n"))
	f.Add([]byte("file \"a\\x20b\" seq 3 type h startoffset 5\n#c\nfile 'c' seq 4 type i\r\n"))
	f.Add([]byte("file a seq 1 type b\nfile a seq 2 type h\n"))
	f.Add([]byte("#\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parseManifest("m", text)
		if err != nil {
			return
		}
		again, err := parseManifest("m", m.append(nil))
		require.NoError(t, err)
		require.Equal(t, m, again, "what is accepted can be written and read again")
	})
}

// FuzzAOF loads arbitrary bytes as a log: they are refused or loaded, and what is loaded loads
// again.
func FuzzAOF(f *testing.F) {
	unit := func(argv ...string) []byte { return resp.AppendCommand(nil, argv...) }
	f.Add(append(unit("SELECT", "1"), unit("SET", "a", "1")...))
	f.Add(append(append(unit("MULTI"), unit("SET", "a", "1")...), unit("EXEC")...))
	f.Add(append([]byte("#TS:17\r\n"), append(unit("MULTI"), unit("SET", "a", "1")...)...))
	f.Add([]byte("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$999999999\r\nx"))
	f.Add([]byte("*1000000000\r\n$1\r\n"))
	f.Add([]byte("REDIS 0\n*2\r\n$3\r\nDEL\r\n$1\r\na\r\n*"))
	f.Fuzz(func(t *testing.T, text []byte) {
		mem := vfs.NewMem()
		s := newFixture(t, mem, usual)
		require.NoError(t, mem.MkdirAll("/d/appendonlydir", 0o755))
		require.NoError(t, writeAll(mem, "/d/appendonlydir/x.incr.aof", text))
		require.NoError(t,
			writeAll(mem, "/d/appendonlydir/appendonly.aof.manifest",
				[]byte("file x.incr.aof seq 1 type i\n")))
		if s.start() != nil {
			s.a.work.stop()
			return
		}
		s.do(0, "SET end 1")
		was := s.m.clone()
		s.restart()
		require.Equal(t, was, s.m.data)
		require.NoError(t, s.a.Close())
	})
}

// TestParserWindows reads the same units through windows of every size.
func TestParserWindows(t *testing.T) {
	rnd := testseed.Rand(t)
	var text []byte
	var want []string
	for range 300 {
		var argv [][]byte
		for range 1 + rnd.IntN(5) {
			argv = append(argv, make([]byte, rnd.IntN(1<<rnd.IntN(12))))
		}
		if rnd.IntN(5) == 0 {
			text = appendTimestamp(text, rnd.Int64N(1<<40))
		}
		text = resp.AppendCommand(text, argv...)
		want = append(want, fmt.Sprint(argv))
	}
	for size := int64(0); size < 5000; size += 1 + size/3 {
		p := newLogParser(strings.NewReader(string(text)), 0, size)
		for i, w := range want {
			if i%3 == 0 { // units of three
				p.unit()
				p.spans = p.spans[:0]
			}
			spans, err := p.next()
			require.NoError(t, err)
			var argv [][]byte
			for _, s := range spans {
				argv = append(argv, p.buf[s.from:s.to])
			}
			require.Equal(t, w, fmt.Sprint(argv))
		}
		require.EqualValues(t, len(text), p.offset())
	}
}

func TestAOFUpgrade(t *testing.T) {
	old := func(rdb bool) []byte {
		m := newModel()
		m.data["2/a"] = "1"
		if rdb {
			return resp.AppendCommand(m.text(true), "SET", "tail", "1")
		}
		return resp.AppendCommand(m.text(false), "SET", "tail", "1")
	}
	for _, rdb := range []bool{false, true} {
		for n := 0; ; n++ { // the power fails after n operations of the upgrade
			mem := vfs.NewMem()
			f := newFixture(t, mem, usual)
			require.NoError(t, writeAll(mem, "/d/appendonly.aof", old(rdb)))
			require.NoError(t, mem.SyncDir("/"))
			require.NoError(t, mem.SyncDir("/d"))
			mem.PowerOffAfter(n)
			err := f.start()
			if err == nil {
				require.Equal(t, "appendonly.aof appendonly.aof.1.incr.aof appendonly.aof.manifest",
					f.files())
				require.Contains(t, f.log.String(),
					"Successfully migrated an old-style AOF configuration")
			}
			f.a.work.stop()
			g := newFixture(t, mem.Crash(uint64(n)), usual)
			g.mustStart()
			want := map[string]string{"2/a": "1", "2/tail": "1"}
			if rdb {
				want = map[string]string{"2/a": "1", "0/tail": "1"}
			}
			require.Equal(t, want, g.m.data, "power off after %d", n)
			g.rewrite(func(int) {})
			require.Equal(t,
				"file appendonly.aof.2.base.aof seq 2 type b\nfile appendonly.aof.2.incr.aof seq "+
					"2 type i\n", g.read("appendonly.aof.manifest"))
			g.restart()
			require.Equal(t, want, g.m.data)
			require.NoError(t, g.a.Close())
			if err == nil {
				break
			}
		}
	}
}

func TestAOFMissingFiles(t *testing.T) {
	mem := vfs.NewMem()
	f := newFixture(t, mem, usual)
	f.mustStart()
	f.do(0, "SET a 1")
	require.NoError(t, f.a.Close())
	require.NoError(t, mem.Remove("/d/appendonlydir/appendonly.aof.1.base.aof"))
	require.ErrorContains(t, f.start(),
		"AOF file appendonly.aof.1.base.aof: the manifest names it, but it cannot be opened: No "+
			"such file or directory")
	require.NoError(t,
		writeAll(mem, "/d/appendonlydir/appendonly.aof.manifest", []byte("nonsense\n")))
	require.ErrorContains(t, f.start(), "line 1: Invalid AOF manifest file format: \"nonsense\"")
}
