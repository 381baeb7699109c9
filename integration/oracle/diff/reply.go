package diff

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"godwit/internal/resp/client"
)

// Reply is a decoded reply as comparators see it. Only replies that differ are decoded.
type Reply struct {
	Kind  byte    // the RESP type byte; '_' for every form of null
	Str   string  // the payload of scalar kinds
	Elems []Reply // the elements of aggregates; of a map: key, value, key, value …
}

var kinds = map[client.Kind]byte{
	client.Simple: '+', client.Error: '-', client.Int: ':', client.Bulk: '$',
	client.Null: '_', client.NullArray: '_', client.Double: ',', client.Bool: '#',
	client.BigNumber: '(', client.Verbatim: '=', client.Array: '*', client.Map: '%',
	client.Set: '~', client.Push: '>',
}

// Decode reads exactly one complete reply.
func Decode(raw []byte) (Reply, error) {
	v, rest, err := client.Parse(raw)
	if err != nil {
		return Reply{}, err
	}
	if len(rest) > 0 {
		return Reply{}, fmt.Errorf("%d bytes, the reply ends at %d", len(raw), len(raw)-len(rest))
	}
	r := replyOf(v)
	if raw[0] == '!' {
		r.Kind = '!'
	}
	return r, nil
}

// decode decodes a complete reply. A malformed scalar becomes a reply that equals no other.
func decode(raw []byte) Reply {
	r, err := Decode(raw)
	if err != nil {
		return Reply{Kind: '?', Str: string(raw)}
	}
	return r
}

func replyOf(v client.Value) Reply {
	r := Reply{Kind: kinds[v.Kind], Str: v.Text()}
	switch v.Kind {
	case client.Verbatim:
		r.Str = v.Format + ":" + v.Str
	case client.Array, client.Map, client.Set, client.Push:
		r.Elems = make([]Reply, len(v.Elems))
		for i, e := range v.Elems {
			r.Elems[i] = replyOf(e)
		}
	}
	return r
}

// IsErr reports whether the reply is an error of either protocol version.
func (r Reply) IsErr() bool { return r.Kind == '-' || r.Kind == '!' }

// Int returns the value of an integer reply.
func (r Reply) Int() (int64, bool) {
	if r.Kind != ':' {
		return 0, false
	}
	n, err := strconv.ParseInt(r.Str, 10, 64)
	return n, err == nil
}

// Float returns the value of a double or of a string that spells one.
func (r Reply) Float() (float64, bool) {
	switch r.Kind {
	case ',', '$', ':', '+':
		f, err := strconv.ParseFloat(r.Str, 64)
		return f, err == nil && !math.IsNaN(f)
	}
	return 0, false
}

// Get returns the value of a field in a map reply or in its RESP2 form, a flat array.
func (r Reply) Get(field string) (Reply, bool) {
	for i := 0; i+1 < len(r.Elems); i += 2 {
		if r.Elems[i].Str == field {
			return r.Elems[i+1], true
		}
	}
	return Reply{}, false
}

// String returns the reply on one line, close to how redis-cli names the types.
func (r Reply) String() string {
	switch r.Kind {
	case '_':
		return "(nil)"
	case '+':
		return "+" + r.Str
	case '-', '!':
		return "(error) " + r.Str
	case ':':
		return "(integer) " + r.Str
	case ',':
		return "(double) " + r.Str
	case '#':
		return "(bool) " + r.Str
	case '(':
		return "(big) " + r.Str
	case '$':
		return Quote([]byte(r.Str))
	case '=':
		return "(verbatim) " + Quote([]byte(r.Str))
	}
	name := map[byte]string{'*': "", '~': "set", '>': "push", '%': "map"}[r.Kind]
	parts := make([]string, len(r.Elems))
	for i, e := range r.Elems {
		parts[i] = e.String()
	}
	return name + "[" + strings.Join(parts, ", ") + "]"
}

// show returns raw reply bytes in readable form, whatever they are.
func show(raw []byte) string {
	if r, err := Decode(raw); err == nil {
		return clip(r.String(), 2000)
	}
	return "raw " + clip(Quote(raw), 2000)
}

func clip[S ~string | ~[]byte](s S, n int) string {
	if len(s) <= n {
		return string(s)
	}
	return fmt.Sprintf("%s… (%d bytes)", string(s[:n]), len(s))
}
