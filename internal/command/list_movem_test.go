package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"godwit/internal/testseed"
)

// TestMoveManyAgainstModel compares LMOVEM with a model of it that moves elements of slices one by
// one. The lists are packed or large, with compressed nodes too.
func TestMoveManyAgainstModel(t *testing.T) {
	r, l := testseed.Rand(t), newLocal(t)
	for round := range 200 {
		if round%20 == 0 {
			l.lines(t, fmt.Sprintf("FLUSHALL; CONFIG SET list-max-listpack-size %d; "+
				"CONFIG SET list-compress-depth %d", pick(r, -2, -1, 1, 3, 8), r.IntN(3)))
		}
		lists := map[string][]string{}
		for _, key := range []string{"a", "b"} {
			run(t, l, "DEL", key)
			for range r.IntN(60) {
				v := strconv.Itoa(r.IntN(1000)) + pick(r, "", "", strings.Repeat("x", r.IntN(300)))
				run(t, l, "RPUSH", key, v)
				lists[key] = append(lists[key], v)
			}
		}
		for range 10 {
			src, dst := pick(r, "a", "b"), pick(r, "a", "b")
			args := []string{"LMOVEM", src, dst, pick(r, "LEFT", "RIGHT"), pick(r, "LEFT", "RIGHT"),
				pick(r, "COUNT", "EXACTLY"), strconv.Itoa(1 + r.IntN(40)), pick(r, "OBO", "BULK")}
			want := moveModel(lists, args)
			got := run(t, l, args...)
			require.Equal(t, want == nil, got.IsNull(), args)
			require.True(t, slices.Equal(want, got.Strings()), "%q\n%q\n%v", args, want, got)
			for key, list := range lists {
				now := run(t, l, "LRANGE", key, "0", "-1").Strings()
				require.True(t, slices.Equal(list, now), "%q\n%q\n%q", args, list, now)
			}
		}
	}
	l.lines(t, "FLUSHALL")
}

// moveModel runs LMOVEM on slices. It returns the elements that it has moved.
func moveModel(lists map[string][]string, args []string) []string {
	src, dst, left := args[1], args[2], args[3] == "LEFT"
	toLeft, exactly, obo := args[4] == "LEFT", args[5] == "EXACTLY", args[7] == "OBO"
	n, _ := strconv.Atoi(args[6])
	if len(lists[src]) == 0 || exactly && len(lists[src]) < n {
		return nil
	}
	var moved []string
	for len(moved) < n && len(lists[src]) > 0 {
		i := 0
		if !left {
			i = len(lists[src]) - 1
		}
		moved = append(moved, lists[src][i])
		lists[src] = slices.Delete(slices.Clone(lists[src]), i, i+1)
	}
	// They come in the order in which they were popped, each in front of those before it if they
	// go to the left. BULK restores the order that they had.
	if obo && toLeft || !obo && !left {
		slices.Reverse(moved)
	}
	if toLeft {
		lists[dst] = append(slices.Clone(moved), lists[dst]...)
	} else {
		lists[dst] = append(slices.Clone(lists[dst]), moved...)
	}
	return moved
}
