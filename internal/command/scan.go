package command

import (
	"strconv"
	"strings"

	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/scan"
)

func scanCommands() []*engine.Command {
	return []*engine.Command{
		{
			Name: "scan", Arity: -2, Flags: engine.ReadOnly, Group: engine.GroupGeneric, Since: "2.8.0",
			Summary: "Walks the keys of the selected database step by step.", Complexity: "O(1) a call, O(N) for a full walk",
			History: []engine.History{{Since: "6.0.0", Change: "Takes `TYPE`."}},
			Tips:    []string{"nondeterministic_output", "request_policy:special"},
			Args: []engine.Arg{engine.Int("cursor"), engine.Pattern("pattern").Tokened("MATCH").Opt(),
				engine.Int("count").Tokened("COUNT").Opt(), engine.Str("type").Tokened("TYPE").Opt().From("6.0.0")},
			Run: scanCmd,
		},
		{
			Name: "keys", Arity: 2, Flags: engine.ReadOnly, Group: engine.GroupGeneric, Since: "1.0.0",
			Summary: "Lists the keys that match a pattern.", Complexity: "O(N) in the number of keys of the database",
			Categories: []string{"dangerous"}, Tips: []string{"request_policy:all_shards", "nondeterministic_output_order"},
			Args: []engine.Arg{engine.Pattern("pattern")},
			Run:  keysCmd,
		},
	}
}

// scanOptions are the options that the SCAN family shares.
type scanOptions struct {
	cursor   uint64
	count    int64
	match    []byte // nil: everything
	typed    bool
	typeName string // when typed: the only type wanted
}

// parse reads the cursor and what follows it, answering with Redis's errors. TYPE is an option of SCAN alone.
func (o *scanOptions) parse(c *engine.Ctx, cursor []byte, args [][]byte, typed bool) bool {
	var ok bool
	if o.cursor, ok = scan.ParseCursor(cursor); !ok {
		c.Err(engine.ErrInvalidCursor)
		return false
	}
	o.count = 10
	for i := 0; i < len(args); i += 2 {
		if i+1 == len(args) {
			c.Err(engine.ErrSyntax)
			return false
		}
		v := args[i+1]
		switch {
		case is(args[i], "count"):
			if o.count, ok = intArg(c, v); !ok {
				return false
			}
			if o.count < 1 {
				c.Err(engine.ErrSyntax)
				return false
			}
		case is(args[i], "match"):
			o.match = v
			if string(v) == "*" {
				o.match = nil
			}
		case typed && is(args[i], "type"):
			o.typed, o.typeName = true, strings.ToLower(string(v))
		default:
			c.Err(engine.ErrSyntax)
			return false
		}
	}
	return true
}

// wants reports whether the key passes the filters.
func (o *scanOptions) wants(e object.Entry) bool {
	if o.match != nil && !scan.Match(o.match, e.Key(), false) {
		return false
	}
	return !o.typed || o.typeName == e.Type().String()
}

func scanCmd(c *engine.Ctx) {
	var o scanOptions
	if !o.parse(c, c.Args[1], c.Args[2:], true) {
		return
	}
	// The keys alias the table; nothing changes it before they are copied into the reply.
	var keys [][]byte
	seen := int64(0)
	cursor := o.cursor
	// Like Redis, stop after a bounded number of buckets even if they are empty, and count what was seen, not what matched.
	for rounds := o.count; ; rounds-- {
		cursor = c.DB.Scan(cursor, func(e object.Entry) {
			seen++
			if o.wants(e) {
				keys = append(keys, e.Key())
			}
		})
		if cursor == 0 || seen >= o.count || rounds < -9*o.count {
			break
		}
	}
	c.Array(2)
	c.Bulk(strconv.AppendUint(nil, cursor, 10))
	c.Array(len(keys))
	for _, k := range keys {
		c.Bulk(k)
	}
}

func keysCmd(c *engine.Ctx) {
	pattern := c.Args[1]
	all := string(pattern) == "*"
	var keys [][]byte
	for cursor := uint64(0); ; {
		cursor = c.DB.Scan(cursor, func(e object.Entry) {
			if all || scan.Match(pattern, e.Key(), false) {
				keys = append(keys, e.Key())
			}
		})
		if cursor == 0 {
			break
		}
	}
	c.Array(len(keys))
	for _, k := range keys {
		c.Bulk(k)
	}
}
