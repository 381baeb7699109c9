package persist

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/invariant"
	"godwit/internal/keyspace"
	"godwit/internal/logging"
	"godwit/internal/testserver"
	"godwit/internal/vfs"
)

// check runs a checker on a file of fsys and returns its verdict and output.
func check(fsys vfs.FS, aof bool, name string, change func(*Checker)) (bool, string) {
	var out bytes.Buffer
	c := &Checker{FS: fsys, Out: &out, In: strings.NewReader(""), Now: time.Now().UnixMilli()}
	if change != nil {
		change(c)
	}
	if aof {
		return c.AOF(name), out.String()
	}
	return c.RDB(name), out.String()
}

// redisFiles makes files of a real redis-server with all types in dir: dump.rdb and appendonlydir.
func redisFiles(t *testing.T, args ...string) (dir string) {
	t.Helper()
	for _, tool := range []string{"redis-check-rdb", "redis-check-aof"} {
		testserver.Program(t, tool)
	}
	s := testserver.StartRedis(t, "", append([]string{"--appendonly", "yes"}, args...)...)
	defer s.Stop()
	c := s.Client(t)
	do := func(args ...any) {
		t.Helper()
		v, err := c.Do(args...)
		require.NoError(t, err)
		require.False(t, v.IsError(), "%v: %v", args, v)
	}
	fill(do, 300)
	do("SAVE")
	// under everysec a slow disk holds the last commands back
	do("CONFIG", "SET", "appendfsync", "always")
	do("MULTI")
	do("SET", "x", "1")
	do("SET", "y", "2")
	do("EXEC")
	do("SELECT", "3")
	do("SET", "last", "command")
	return s.Dir
}

// fill makes small and large values of all types.
func fill(do func(...any), n int) {
	do("SET", "expiring", strings.Repeat("compressible ", 50), "PX", 10_000_000)
	for i := range n {
		do("SET", fmt.Sprint("key", i), i)
		do("RPUSH", fmt.Sprint("list", i%3), i, fmt.Sprint("element ", i))
		do("HSET", "hash", i, fmt.Sprint("value ", i))
		do("SADD", fmt.Sprint("ints", i%3), i)
		do("SADD", "set", fmt.Sprint("member ", i))
		do("ZADD", "zset", i, fmt.Sprint("member ", i))
		do("ZADD", "small", i, fmt.Sprint("member ", i%10))
	}
}

// onMem copies the files below dir.
func onMem(t *testing.T, dir string) *vfs.Mem {
	t.Helper()
	m := vfs.NewMem()
	require.NoError(t, m.MkdirAll("appendonlydir", 0o755))
	for _, pattern := range []string{"dump.rdb", "appendonlydir/*"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		for _, name := range names {
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			rel, err := filepath.Rel(dir, name)
			require.NoError(t, err)
			require.NoError(t, writeAll(m, rel, data))
		}
	}
	return m
}

const redisManifest = "appendonlydir/appendonly.aof.manifest"

// TestCheckRedisFiles checks that what redis-server wrote is sound, with the counts that Redis's
// own checker finds.
func TestCheckRedisFiles(t *testing.T) {
	dir := redisFiles(t)
	m := onMem(t, dir)
	ok, out := check(m, false, "dump.rdb", nil)
	require.True(t, ok, out)
	theirs, err := exec.Command("redis-check-rdb", filepath.Join(dir, "dump.rdb")).Output()
	require.NoError(t, err)
	for _, line := range strings.Split(string(theirs), "\n") {
		if strings.Contains(line, "[info]") || strings.Contains(line, "RDB looks OK") ||
			strings.Contains(line, "Checksum OK") {
			require.Contains(t, out, line)
		}
	}
	ok, out = check(m, true, redisManifest, nil)
	require.True(t, ok, out)
	require.Contains(t, out, "transactions=1")
	require.Contains(t, out, "All AOF files and the manifest are valid")
	ok, out = check(m, true, "appendonlydir/appendonly.aof.1.incr.aof", nil)
	require.True(t, ok, out)

	ok, out = check(onMem(t, redisFiles(t, "--rdbchecksum", "no", "--rdbcompression", "no")), false,
		"dump.rdb", nil)
	require.True(t, ok, out)
	require.Contains(t, out, "no checksum")
	require.NotContains(t, out, "Checksum OK")
}

// TestCheckDamagedRDB checks that the checker finds every cut of a file and a flipped bit in every
// byte. Redis's checker must find a sample of them too.
func TestCheckDamagedRDB(t *testing.T) {
	dir := redisFiles(t)
	whole, err := os.ReadFile(filepath.Join(dir, "dump.rdb"))
	require.NoError(t, err)
	m := vfs.NewMem()
	damaged := func(what string, data []byte) {
		require.NoError(t, writeAll(m, "dump.rdb", data))
		ok, out := check(m, false, "dump.rdb", nil)
		require.False(t, ok, "%s:\n%s", what, out)
		require.Contains(t, out, "RDB ERROR DETECTED")
		require.Regexp(t, `(?m)^\[offset \d+\] .*[^:]$`, out)
		require.Contains(t, out, "keys read")
	}
	for i := 0; i < len(whole); i += 1 + i/20 {
		damaged(fmt.Sprint("cut at ", i), whole[:i])
		flipped := bytes.Clone(whole)
		flipped[i] ^= 1 << (i % 8)
		damaged(fmt.Sprint("flipped at ", i), flipped)
	}
	require.NoError(t, writeAll(m, "dump.rdb", append(bytes.Clone(whole), "rest"...)))
	ok, out := check(m, false, "dump.rdb", nil)
	require.True(t, ok, out)
	require.Contains(t, out, "4 bytes follow")
	ok, out = check(m, false, "none.rdb", nil)
	require.False(t, ok)
	require.Contains(t, out, "Cannot open file none.rdb: No such file or directory")
}

// TestCheckTwice checks that the checker finds a key, or a member, that is there twice: it would
// stop a server at its start.
func TestCheckTwice(t *testing.T) {
	m := vfs.NewMem()
	record := "\x00\x01k\x01v"
	for file, fine := range map[string]bool{
		"REDIS0004\xfe\x00" + record + "\xfe\x01" + record + "\xff": true,
		"REDIS0004\xfe\x00" + record + record + "\xff":              false,
		"REDIS0004\xfe\x00\x02\x01k\x02\x01a\x01b\xff":              true,
		"REDIS0004\xfe\x00\x02\x01k\x02\x01a\x01a\xff":              false,
	} {
		require.NoError(t, writeAll(m, "dump.rdb", []byte(file)))
		ok, out := check(m, false, "dump.rdb", nil)
		require.Equal(t, fine, ok, out)
	}
}

// TestCheckTornAOF cuts the log at every byte. The verdict, and the length after --fix, are those
// of redis-check-aof.
func TestCheckTornAOF(t *testing.T) {
	dir := redisFiles(t)
	incr := "appendonlydir/appendonly.aof.1.incr.aof"
	whole, err := os.ReadFile(filepath.Join(dir, incr))
	require.NoError(t, err)
	size := func(fsys vfs.FS, name string) int64 {
		info, err := fsys.Stat(name)
		require.NoError(t, err)
		return info.Size()
	}
	m := onMem(t, dir)
	from := len(whole) - 150 // the transaction and what follows
	for cut := len(whole); cut >= from; cut-- {
		require.NoError(t, writeAll(m, incr, whole[:cut]))
		ok, out := check(m, true, redisManifest, nil)
		sound := ok
		if !ok {
			require.Contains(t, out, "Use the --fix option")
			ok, out = check(m, true, redisManifest, func(c *Checker) { c.Fix = true })
			require.False(t, ok, "nobody said yes")
			require.Contains(t, out, "Aborting")
			require.EqualValues(t, cut, size(m, incr))
			ok, out = check(m, true, redisManifest, func(c *Checker) {
				c.Fix, c.In = true, strings.NewReader("y\n")
			})
			require.True(t, ok, out)
			require.Contains(t, out, "Successfully truncated")
			ok, out = check(m, true, redisManifest, nil)
			require.True(t, ok, out)
		}
		if (len(whole)-cut)%13 != 0 {
			continue // theirs is a process each time
		}
		name := filepath.Join(dir, incr)
		require.NoError(t, os.WriteFile(name, whole[:cut], 0o644))
		theirs := exec.Command("redis-check-aof", filepath.Join(dir, redisManifest)).Run()
		require.Equal(t, theirs == nil, sound, "cut at %d", cut)
		fix := exec.Command("redis-check-aof", "--fix", filepath.Join(dir, redisManifest))
		fix.Stdin = strings.NewReader("y\n")
		require.NoError(t, fix.Run(), "cut at %d", cut)
		require.Equal(t, size(vfs.OS(), name), size(m, incr), "cut at %d", cut)
	}
}

// TestCheckDamagedAOF checks that damage in the middle is named with its offset, that --fix says
// what it costs, and that only the last file can be fixed.
func TestCheckDamagedAOF(t *testing.T) {
	set := "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n"
	for damaged, want := range map[string]string{
		set + "+" + set[1:]:                                "[offset 27] expected '*'",
		set + strings.Replace(set, "$1", "$2", 1):          "[offset 46]",
		set + "*1\r\n$5\r\nMULTI\r\n*1\r\n$5\r\nMULTI\r\n": "a MULTI within",
		set + "*1\r\n$4\r\nEXEC\r\n":                       "EXEC without MULTI",
		set + strings.Replace(set, "$1", "$999", 1) + set + set +
			set: "[offset 27] the command here is incomplete, but others follow",
	} {
		m := vfs.NewMem()
		require.NoError(t, m.MkdirAll("d", 0o755))
		require.NoError(t, writeAll(m, "d/old.aof", []byte(damaged)))
		ok, out := check(m, true, "d/old.aof", nil)
		require.False(t, ok, out)
		require.Contains(t, out, want)
		require.Contains(t, out,
			fmt.Sprintf("size=%d, ok_up_to=%d, diff=%d, commands=", len(damaged), len(set),
				len(damaged)-len(set)))
		require.NoError(t,
			writeAll(m, "d/x.manifest",
				[]byte("file old.aof seq 1 type b\nfile last.aof seq 1 type i\n")))
		require.NoError(t, writeAll(m, "d/last.aof", []byte(set)))
		ok, out = check(m, true, "d/x.manifest", func(c *Checker) { c.Fix, c.Yes = true, true })
		require.False(t, ok, out)
		require.Contains(t, out, "not the last file")
		require.NoError(t, writeAll(m, "d/x.manifest", []byte("file old.aof seq 1 type b\n")))
		ok, out = check(m, true, "d/x.manifest", func(c *Checker) { c.Fix, c.Yes = true, true })
		require.True(t, ok, out)
		require.Contains(t, out, "everything from the damage on")
		left, err := vfs.ReadFile(m, "d/old.aof")
		require.NoError(t, err)
		require.Equal(t, set, string(left))
	}
}

// TestTornLookalike reads a torn value that looks like commands within commands, wherever one
// begins to read. It must not cost the square of its length.
func TestTornLookalike(t *testing.T) {
	m := vfs.NewMem()
	value := strings.Repeat("x\r\n*999999\r\n$10\r\n", 1<<17)
	require.NoError(t,
		writeAll(m, "x", []byte("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$99999999\r\n"+value)))
	ok, _ := check(m, true, "x", nil)
	require.False(t, ok)
}

// stamp returns the annotation for a time.
func stamp(sec int) string { return fmt.Sprintf("#TS:%d\r\n", sec) }

// unit returns a SET of the key as it is in a log.
func unit(key int) string {
	return fmt.Sprintf("*3\r\n$3\r\nSET\r\n$4\r\nk%03d\r\n$1\r\nv\r\n", key)
}

// TestTruncateToTimestamp cuts logs off at points in time. What is left is what redis-check-aof
// leaves, and damage before the point is still reported.
func TestTruncateToTimestamp(t *testing.T) {
	tx := "*1\r\n$5\r\nMULTI\r\n" + unit(900) + unit(901) + "*1\r\n$4\r\nEXEC\r\n"
	first := stamp(10) + unit(1) + unit(2) + stamp(12) + unit(3)
	last := stamp(20) + unit(4) + stamp(21) + tx + stamp(23) + unit(5) + unit(6) + stamp(30)
	manifest := "file f.1.incr.aof seq 1 type i\nfile f.2.incr.aof seq 2 type i\n"
	files := map[string]string{"f.1.incr.aof": first, "f.2.incr.aof": last, "f.manifest": manifest}
	for _, c := range []struct {
		until int64
		ok    bool
		left  int // of the last file
		says  string
	}{
		{9, false, len(last), "nothing before timestamp 9"},
		{10, false, len(last), "not the last file"},
		{12, false, len(last), "nothing before timestamp 12"},
		{20, true, len(stamp(20) + unit(4)), "Successfully truncated"},
		{21, true, strings.Index(last, stamp(23)), "Successfully truncated"},
		{22, true, strings.Index(last, stamp(23)), "to timestamp 22"},
		{23, true, len(last) - len(stamp(30)), "Successfully truncated"},
		{30, true, len(last), "Truncate nothing"},
		{31, true, len(last), "All AOF files and the manifest are valid"},
	} {
		m := vfs.NewMem()
		for name, text := range files {
			require.NoError(t, writeAll(m, name, []byte(text)))
		}
		ok, out := check(m, true, "f.manifest", func(k *Checker) { k.Until = c.until })
		require.Equal(t, c.ok, ok, "%d: %s", c.until, out)
		require.Contains(t, out, c.says, "%d", c.until)
		for name, text := range files {
			left, err := vfs.ReadFile(m, name)
			require.NoError(t, err)
			if name == "f.2.incr.aof" {
				text = text[:c.left]
			}
			require.Equal(t, text, string(left), "%d: %s", c.until, name)
		}
		t.Run(fmt.Sprintf("redis-check-aof %d", c.until), func(t *testing.T) {
			bin, dir := testserver.Program(t, "redis-check-aof"), t.TempDir()
			for name, text := range files {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
			}
			err := exec.Command(bin, "--truncate-to-timestamp", fmt.Sprint(c.until),
				filepath.Join(dir, "f.manifest")).Run()
			require.Equal(t, c.ok, err == nil)
			left, err := os.ReadFile(filepath.Join(dir, "f.2.incr.aof"))
			require.NoError(t, err)
			require.Equal(t, last[:c.left], string(left))
		})
	}
}

// TestTruncateOneFile cuts off logs of one file, at annotations that are hard to tell or to cut at.
func TestTruncateOneFile(t *testing.T) {
	single := func(text string, until int64) (bool, string, string) {
		m := vfs.NewMem()
		require.NoError(t, writeAll(m, "x", []byte(text)))
		ok, out := check(m, true, "x", func(k *Checker) { k.Until = until })
		left, err := vfs.ReadFile(m, "x")
		require.NoError(t, err)
		return ok, out, string(left)
	}
	inside := stamp(1) + unit(1) + "*1\r\n$5\r\nMULTI\r\n" + unit(2) + stamp(9) + unit(3) +
		"*1\r\n$4\r\nEXEC\r\n"
	ok, out, left := single(inside, 5)
	require.True(t, ok, out)
	require.Equal(t, stamp(1)+unit(1), left, "a transaction goes as a whole")
	ok, out, left = single(stamp(1)+unit(1)+stamp(9)+unit(2)[:7], 5)
	require.True(t, ok, out)
	require.Equal(t, stamp(1)+unit(1), left, "the torn end goes with the rest")
	damaged := stamp(1) + unit(1) + "damage" + stamp(9) + unit(2)
	ok, out, left = single(damaged, 5)
	require.False(t, ok, out)
	require.Equal(t, damaged, left)
	big := stamp(1) + unit(1) + "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$3000000\r\n" +
		strings.Repeat("#TS:9\r\n", 3000000/7+1)[:3000000] + "\r\n" + stamp(9) + unit(2)
	ok, out, left = single(big, 5)
	require.True(t, ok, out)
	require.Len(t, left, strings.LastIndex(big, stamp(9)), "values are no annotations")
	for _, c := range [][2]string{{stamp(1) + unit(1), "#TS:99999999999999999999\r\n" + unit(2)},
		{stamp(1) + unit(1), "#TS:4x\r\n" + unit(2) + stamp(9)}, {stamp(1) + unit(1), "#TS:\r\n"}} {
		ok, out, left = single(c[0]+c[1], 5)
		require.False(t, ok, "%s%s", c, out)
		require.Equal(t, c[0]+c[1], left)
	}
	m := vfs.NewMem()
	require.NoError(t, m.MkdirAll("d", 0o755))
	require.NoError(t, writeAll(m, "d/f.1.base.aof", []byte(stamp(1)+unit(1)+stamp(9)+unit(2))))
	require.NoError(t, writeAll(m, "d/f.manifest", []byte("file f.1.base.aof seq 1 type b\n")))
	ok, out = check(m, true, "d/f.manifest", func(k *Checker) { k.Until = 5 })
	require.False(t, ok, out)
	require.Contains(t, out, "It is the base file")
	ok, out, left = single(stamp(1)+"#note\r\n"+stamp(9)+unit(2), 5)
	require.True(t, ok, out)
	require.Equal(t, stamp(1)+"#note\r\n", left, "of several annotations the early ones stay")
	ok, out, left = single("REDIS0004\xff"+stamp(9)+unit(2), 5)
	require.True(t, ok, out)
	require.Equal(t, "REDIS0004\xff", left, "the snapshot was before")
}

// TestCheckManifest checks that a manifest that a server would refuse is refused.
func TestCheckManifest(t *testing.T) {
	m := vfs.NewMem()
	for text, want := range map[string]string{
		"":                                "empty AOF manifest",
		"file a seq 1 type b\nnonsense\n": "line 2",
		"file a seq 1 type b\n":           "Cannot open file a: No such file or directory",
		"file a seq 1 type h\n":           "names no file",
	} {
		require.NoError(t, writeAll(m, "x.manifest", []byte(text)))
		ok, out := check(m, true, "x.manifest", nil)
		require.False(t, ok, out)
		require.Contains(t, out, want)
	}
}

// TestSnapshotPowerLoss cuts the power after every file operation of a snapshot that replaces
// another. The file must be the old one or the new one, whole. Once Commit has returned it must be
// the new one.
func TestSnapshotPowerLoss(t *testing.T) {
	m := vfs.NewMem()
	save := func(text string) error {
		d, err := NewFileDest(m, FileOptions{Temp: "temp-1.rdb", Final: "dump.rdb"})
		require.NoError(t, err)
		for _, part := range strings.SplitAfter(text, " ") {
			require.NoError(t, d.Write([]byte(part)))
		}
		return d.Commit()
	}
	require.NoError(t, save("the old one"))
	n := 0
	m.Observe(func(_ int, op string, crash func(uint64) *vfs.Mem) {
		for seed := range uint64(30) {
			got, err := vfs.ReadFile(crash(seed), "dump.rdb")
			require.NoError(t, err)
			require.Contains(t, []string{"the old one", "and a new one"}, string(got),
				"after %s, seed %d", op, seed)
			n++
		}
	})
	require.NoError(t, save("and a new one"))
	m.Observe(nil)
	require.Greater(t, n, 150)
	got, err := vfs.ReadFile(m.Crash(vfs.LoseAll), "dump.rdb")
	require.NoError(t, err)
	require.Equal(t, "and a new one", string(got))
}

// FuzzCheckAOF checks arbitrary bytes as a log: what is not sound can be cut off so that it is.
func FuzzCheckAOF(f *testing.F) {
	set := "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n"
	f.Add([]byte(set + "*1\r\n$5\r\nMULTI\r\n" + set + "*1\r\n$4\r\nEXEC\r\n"))
	f.Add([]byte("#TS:1\r\n" + set + set[:9]))
	f.Add([]byte(set + "*1\r\n$5\r\nMULTI\r\n" + set))
	f.Add([]byte("REDIS0004\xff" + set))
	f.Add([]byte("#TS:1\r\n" + set + "#TS:9\r\n" + set))
	f.Add([]byte("*1\r\n$7\r\nNOTHERE\r\n" + set[:9]))
	f.Add([]byte("*1\r\n$7\r\nNOTHERE\r\nx" + set))
	f.Add([]byte(set + "*1\r\n$5\r\nMULTI\r\n" + set + "#TS:9\r\n*1\r\n$4\r\nEXEC\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if looksLikeManifest("x", text) {
			return // its own target is the manifest's
		}
		m := vfs.NewMem()
		require.NoError(t, writeAll(m, "x", text))
		if ok, _ := check(m, true, "x", func(c *Checker) { c.Until = 5 }); ok {
			left, err := vfs.ReadFile(m, "x")
			require.NoError(t, err)
			require.True(t, bytes.HasPrefix(text, left))
			ok, out := check(m, true, "x", func(c *Checker) { c.Until = 5 })
			require.Contains(t, out, "Truncate nothing")
			refused := strings.Contains(out, "[in the way]")
			require.Equal(t, !refused, ok, out)
			ok, out = check(m, true, "x", nil)
			require.Equal(t, !refused, ok, out)
		}
		require.NoError(t, writeAll(m, "x", text))
		ok, out := check(m, true, "x", nil)
		if ok || strings.Contains(out, "nothing can fix that") {
			return
		}
		fixed, out := check(m, true, "x", func(c *Checker) { c.Fix, c.Yes = true, true })
		left, err := vfs.ReadFile(m, "x")
		require.NoError(t, err)
		if !fixed && strings.Contains(out, "[in the way]") {
			// The damage may be cut off, but a load would refuse what is before it.
			require.True(t, bytes.HasPrefix(text, left))
			return
		}
		if !fixed {
			require.Contains(t, out, "is not valid")
			require.Equal(t, text, left, "what is not fixed is not changed")
			return
		}
		require.NotEmpty(t, left)
		require.True(t, bytes.HasPrefix(text, left))
		ok, out = check(m, true, "x", nil)
		require.True(t, ok, out)
	})
}

// FuzzCheckRDB checks arbitrary bytes as a snapshot: the verdict is that of a server that loads it.
func FuzzCheckRDB(f *testing.F) {
	f.Add([]byte("REDIS0004\xfe\x00\x00\x01k\x01v\xff"))
	f.Add([]byte("REDIS0004\xfe\x00\x02\x01k\x02\x01a\x01a\xff"))
	f.Add([]byte(
		"REDIS0010\xfa\x01a\x01b\xfe\x01\xfb\x01\x00" +
			"\xfc\x01\x02\x03\x04\x05\x06\x07\x08\x05\x01z\x01\x01m" +
			"\x00\x00\x00\x00\x00\x00\xf0\x3f\xff\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m := vfs.NewMem()
		require.NoError(t, writeAll(m, "x", text))
		// as the loading keyspace
		ok, out := check(m, false, "x", func(c *Checker) { c.Now = 1_000_000 })
		target := &loadTarget{newKeyspace(newSeeded(), tiny())}
		if !invariant.Enabled { // with them Close wants everything freed first
			defer target.ks.A.Close()
		}
		_, err := LoadRDB(bytes.NewReader(text), target,
			RDBLoadOptions{Log: logging.Discard(), Base: true})
		if err != nil && (strings.Contains(err.Error(), "directive databases")) {
			return // sound, but not for this server
		}
		require.Equal(t, err == nil, ok, "%v\n%s", err, out)
	})
}

func newSeeded() *rand.Rand { return rand.New(rand.NewPCG(1, 1)) }

// loadTarget is a keyspace to load into.
type loadTarget struct{ ks *keyspace.Keyspace }

func (l *loadTarget) Step(fn func())               { fn() }
func (l *loadTarget) Keyspace() *keyspace.Keyspace { return l.ks }
func (l *loadTarget) Loaded(int64)                 {}
func (l *loadTarget) Stopped() error               { return nil }
func (l *loadTarget) Function([]byte, bool) error  { return nil }

// TestCheckReportsAll checks a file and a log that hold several things that are not loaded: each is
// counted, with an example.
func TestCheckReportsAll(t *testing.T) {
	array := func(key string) string { return "\x1c\x01" + key + "\x00\x00" }
	rdb := "REDIS0014\xfe\x00" + array("a") + "\x00\x01s\x01v" + array("b") +
		"\x0f\x01x\x00\x00\x00\x00\x00" + // an empty stream
		"\x07\x01j\x81\x45\xe2\x52\x38\xdf\x91\x2c\x03\x05\x02{}\x00" + // a module's value
		"\x04\x01h\x02\x01f\x01v\x01f\x01w" + // a hash with a field twice
		"\xf3\x01\x01\x00\x00\x04\x00\x00\x01m\x01v" + // metadata
		"\xfe\x14\x00\x01s\x01v\xff" + strings.Repeat("\x00", 8)
	m := vfs.NewMem()
	require.NoError(t, writeAll(m, "dump.rdb", []byte(rdb)))
	ok, out := check(m, false, "dump.rdb", nil)
	require.False(t, ok)
	for _, line := range []string{
		"RDB ERROR DETECTED",
		"[in the way] 2 of type array, the first is 'a' in database 0, at offset 11",
		"[in the way] 1 of type value of module type ReJSON-RL, the first is 'j' in database 0",
		"[in the way] 1 of damaged values, the first is 'h' in database 0",
		"[left out] 1 of the key metadata of module class BAAA, the first of key 'm'",
		"[needed] There are keys in database 20: start the server with databases 21 or more",
		"[info] 8 keys read",
	} {
		require.Contains(t, out, line)
	}
	log := "*1\r\n$5\r\nmulti\r\n*4\r\n$5\r\nARSET\r\n$1\r\ns\r\n$1\r\n0\r\n$1\r\nf\r\n" +
		"*2\r\n$5\r\nARLEN\r\n$1\r\ns\r\n*1\r\n$4\r\nEXEC\r\n" +
		"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n"
	require.NoError(t, writeAll(m, "x.aof", []byte(rdb+log)))
	ok, out = check(m, true, "x.aof", nil)
	require.False(t, ok)
	for _, line := range []string{
		"[in the way] 2 of type array",
		"[in the way] 1 of command 'arset', which this server does not know, the first at offset ",
		" with the argument 's'",
		"transactions=1",
	} {
		require.Contains(t, out, line)
	}
}
