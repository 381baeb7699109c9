package script

import (
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/resp"
)

// TestDebugManyThreads checks that a session does not keep all coroutines that have run, and ends
// without a client even if its script may take any time.
func TestDebugManyThreads(t *testing.T) {
	h := NewHost(nobody{}, Options{Version: "7.2.4"})
	conn := struct {
		io.Reader
		io.Writer
	}{strings.NewReader("*1\r\n$1\r\nc\r\n"), io.Discard}
	var w resp.Writer
	err := h.Debug([]byte("for i = 1, 5000 do\n coroutine.wrap(function()\n return i end)()\nend\n"+
		"return 7"), DebugOptions{Conn: conn}, func(sc *Script) {
		h.Run(sc, nil, nil, &w)
		require.LessOrEqual(t, len(h.debug.last), maxThreads)
		runtime.GC()
		kept := 0
		for thread := range h.debug.last {
			if thread.Value() != nil {
				kept++
			}
		}
		require.Less(t, kept, 10, "the main thread, and maybe spare ones")
		now := time.Now() // without a limit it is looked now and then whether the client is there
		require.NoError(t, h.debug.overtime(now))
		require.Equal(t, errDebugGone, h.debug.overtime(now.Add(askLimit)))
	})
	require.NoError(t, err)
	require.Equal(t, ":7\r\n", string(w.Buf))
}
