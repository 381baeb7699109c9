package nodes

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestParse reads lines of Redis and Valkey.
func TestParse(t *testing.T) {
	v, err := Parse("" +
		"aa 127.0.0.1:1@10001,host myself,master - 0 0 7 connected 0-99 101 [5->-bb] [7-<-bb]\n" +
		"bb 127.0.0.1:2@10002 slave,fail? aa 1 2 0 disconnected\n")
	require.NoError(t, err)
	require.Len(t, v, 2)
	a, b := v.Find("aa"), v.Find("bb")
	require.Equal(t, "127.0.0.1:1", a.Addr)
	require.Equal(t, 10001, a.Bus)
	require.Equal(t, 7, a.Epoch)
	require.True(t, a.Has("myself") && a.Linked && b.Has("fail?") && !b.Linked)
	require.Equal(t, "0-99 101", a.Slots.String())
	require.Equal(t, map[int]string{5: ">bb", 7: "<bb"}, a.Moving)
	require.Equal(t, "aa", b.Master)
	require.Equal(t, a, v.Owner(101))
	require.Nil(t, v.Owner(100))
	require.Nil(t, v.Find("cc"))
	require.Len(t, v.Masters(), 1)
	require.False(t, v.Linked())
	for _, bad := range []string{"aa\n", "a b:1@x c d 0 0 0 e\n", "a b:1@2 c d 0 0 0 e 9-x\n",
		"a b:1@2 c d 0 0 x e\n", "a b:1@2 c d 0 0 0 e [3]\n"} {
		_, err := Parse(bad)
		require.Error(t, err, bad)
	}
}
