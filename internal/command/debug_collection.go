package command

import (
	"fmt"
	"math"
	"strings"

	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/listpack"
	"godwit/internal/object"
	"godwit/internal/quicklist"
)

// debugCollections returns the subcommands of DEBUG that look into collections.
func debugCollections() []debugSub {
	return []debugSub{
		{"digest", 2, 2, "",
			[]string{"A hash of all data, the same as Redis's over the same data."}, debugDigest},
		{"digest-value", 2, math.MaxInt, " <key> [<key> ...]",
			[]string{"A hash of the value of each key."}, debugDigestValue},
		{"htstats-key", 3, 4, " <key> [full]", []string{"Statistics of the hash table of a value."},
			debugHtstatsKey},
		{"listpack", 3, 3, " <key>",
			[]string{"Write the elements of a value in a listpack to the server's log."},
			debugListpack},
		{"quicklist", 3, 4, " <key> [<0|1>]",
			[]string{"Write the nodes of a list to the server's log."}, debugQuicklist},
		{"quicklist-packed-threshold", 3, 3, " <size>", []string{
			"The size from which an element of a list has a node to itself, below 4gb; 0 for the",
			"default of 1gb."}, debugPackedThreshold},
	}
}

// debugValue finds the entry of a DEBUG subcommand. It replies with an error if the key is missing.
func debugValue(c *engine.Ctx) (object.Entry, bool) {
	e := c.DB.Peek(c.Args[2])
	if !e.Exists() {
		c.Err(engine.ErrNoSuchKey)
	}
	return e, e.Exists()
}

func debugListpack(c *engine.Ctx) {
	e, ok := debugValue(c)
	if !ok {
		return
	}
	var lp []byte
	switch e.Encoding().Base() { // before Bytes, which some encodings do not have
	case object.EncListpack:
		lp = c.DB.Open(e).Bytes()
	case object.EncPairs:
		lp = listpack.PairsListpack(nil, c.DB.Open(e).Bytes())
	default:
		c.Err("ERR Not a listpack encoded object.")
		return
	}
	c.E.Log.Notice("DEBUG LISTPACK: %d bytes, %d elements", len(lp), listpack.Count(lp))
	for i, pos := 0, listpack.First(lp); pos != 0; i, pos = i+1, listpack.Next(lp, pos) {
		c.E.Log.Notice("DEBUG LISTPACK: element %d at %d: %q", i, pos,
			listpack.Get(lp, pos).Append(nil))
	}
	c.Simple("Listpack structure printed on stdout")
}

func debugQuicklist(c *engine.Ctx) {
	e, ok := debugValue(c)
	if !ok {
		return
	}
	if e.Encoding() != object.EncQuicklist {
		c.Err("ERR Not a quicklist encoded object.")
		return
	}
	i := 0
	object.AsList(c.DB.Open(e)).Quicklist().EachNode(func(n quicklist.NodeInfo) {
		c.E.Log.Notice("DEBUG QUICKLIST: node %d: %d bytes, %d elements, plain %t, compressed %t",
			i, n.Size, n.Count, n.Plain, n.Compressed)
		i++
	})
	c.Simple("Quicklist structure printed on stdout")
}

func debugPackedThreshold(c *engine.Ctx) {
	n, ok := config.ParseMemory(string(c.Args[2]))
	if !ok || n > math.MaxUint32 {
		c.Err("ERR argument must be a memory value bigger than 1 and smaller than 4gb")
		return
	}
	c.E.KS.Heap.SetPackedThreshold(int(n))
	c.OK()
}

// debugHtstatsKey describes the hash table of a value. It shows its size, not the lengths of its
// chains.
func debugHtstatsKey(c *engine.Ctx) {
	e, ok := debugValue(c)
	if !ok {
		return
	}
	if enc := e.Encoding(); enc != object.EncHashtable && enc != object.EncSkiplist {
		c.Err("ERR The value stored at the specified key is not represented using an hash table")
		return
	}
	x := c.DB.Open(e)
	n, size := x.Len(), x.Large().Size()
	c.Verbatim("txt", fmt.Sprintf(
		"Hash table 0 stats (main hash table):\n number of elements: %d\n"+
			" bytes, elements included: %d\n bytes per element: %.2f\n",
		n, size, float64(size)/float64(max(n, 1))))
}

// quicklistFacts returns what DEBUG OBJECT adds for a quicklist.
func quicklistFacts(q *quicklist.List) string {
	size := 0
	q.EachNode(func(n quicklist.NodeInfo) { size += n.Size })
	var b strings.Builder
	fmt.Fprintf(&b, " ql_nodes:%d ql_avg_node:%.2f ql_listpack_max:%d", q.Nodes(),
		float64(q.Len())/float64(max(q.Nodes(), 1)), q.Fill())
	fmt.Fprintf(&b, " ql_compressed:%d ql_uncompressed_size:%d", boolInt(q.Depth() != 0), size)
	return b.String()
}
