package engine_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/persist"
)

// TestLoadSync reads a snapshot from a master that stops in the middle. Nobody waits for it.
func TestLoadSync(t *testing.T) {
	from := withDisk(t, nil)
	for _, line := range []string{"set a 1", "select 2", "rpush l a b", "set due 1 px 1",
		"hset h f v"} {
		from.do(line)
	}
	whole, err := from.sync(persist.SyncOptions{})
	require.NoError(t, err)

	broken := errors.New("connection reset")
	head, crc := whole[:9], len(whole)-8
	for _, c := range []struct {
		tail string
		end  error // of the source
		want string
	}{
		{whole[9:], nil, ""},
		{whole[9 : crc-4], nil, "Short read or OOM loading DB"},
		{whole[9:crc] + "12345678", nil, "CRC error"},
		{"", broken, "connection reset"},
		{"\x00\x03key\xc4", nil, "Internal error in RDB reading offset 14"},
	} {
		x := withDisk(t, nil)
		r, w := io.Pipe()
		result := make(chan error)
		x.e.BeginLoading(0)
		x.e.Leave()
		go func() {
			n, err := x.s.LoadSync(r, persist.SyncLoadOptions{Target: x.e.LoadTarget(false)})
			if err == nil && n.Loaded != 4 {
				err = errors.New("keys are missing")
			}
			result <- err
		}()
		_, err := w.Write([]byte(head))
		require.NoError(t, err)
		x.e.Enter() // which nobody has
		require.Equal(t, "1", x.info("loading"))
		x.e.Leave()
		_, err = w.Write([]byte(c.tail))
		require.NoError(t, err)
		w.CloseWithError(c.end)
		err = <-result
		x.e.Enter()
		x.e.EndLoading()
		if c.want != "" {
			require.ErrorContains(t, err, c.want)
			continue
		}
		require.NoError(t, err)
		x.do("select 2")
		require.Equal(t, ":3", x.do("dbsize"))
		require.Equal(t, "4", x.info("rdb_last_load_keys_loaded"))
	}
}

// TestReceivedFiles has two files received within a second, of which one is given up while the
// other is written.
func TestReceivedFiles(t *testing.T) {
	x := withDisk(t, nil)
	old, err := x.s.NewReceivedFile(0)
	require.NoError(t, err)
	file, err := x.s.NewReceivedFile(0)
	require.NoError(t, err)
	for _, f := range []*persist.ReceivedFile{file, old} {
		_, err = fmt.Fprintf(f, "%p", f)
		require.NoError(t, err)
	}
	old.Discard()
	r, err := file.Rewind()
	require.NoError(t, err)
	b, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("%p", file), string(b))
	require.NoError(t, file.Keep())
}
