package testserver

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"godwit/internal/resp/client"
)

// Contents is what clients can see of a server's data: keys with their types, deadlines and values,
// and the libraries of functions. It is the same text for the same data, whatever server has it.
// Encodings, access times and idle times are not part of it.
type Contents struct {
	facts map[string]string // by "db 0 key": each key, and "functions"
	// fields are the deadlines of hashes' fields, by the same names. Servers without them, which
	// fieldless says, are not compared in this.
	fields    map[string]string
	fieldless bool
}

// Keys returns how many keys there are.
func (c *Contents) Keys() int { return len(c.facts) - 1 }

// Read reads all of a server's data.
func (s *Server) Read() (*Contents, error) {
	conn, err := s.Dial()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if _, err := conn.Do("READONLY"); err != nil { // a replica of a cluster redirects without
		return nil, err
	}
	c := &Contents{facts: map[string]string{}, fields: map[string]string{}}
	if err := c.functions(conn); err != nil {
		return nil, err
	}
	v, err := conn.Do("INFO", "keyspace")
	if err != nil {
		return nil, err
	}
	for name := range Info(v.Text()) {
		db, err := strconv.Atoi(strings.TrimPrefix(name, "db"))
		if err != nil {
			continue
		}
		if err := c.database(conn, db); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// functions reads the libraries.
func (c *Contents) functions(conn *client.Client) error {
	v, err := conn.Do("FUNCTION", "LIST", "WITHCODE")
	if err != nil {
		return err
	}
	var libs []string
	for _, lib := range v.Elems {
		var one []string
		for name, value := range named(lib) {
			if name == "library_name" || name == "library_code" {
				one = append(one, value.String())
			}
		}
		slices.Sort(one)
		libs = append(libs, strings.Join(one, " "))
	}
	slices.Sort(libs)
	c.facts["functions"] = strings.Join(libs, "\n")
	return nil
}

// named returns a reply of names and values, which is a map or an array of pairs.
func named(v client.Value) map[string]client.Value {
	m := map[string]client.Value{}
	for i := 0; i+1 < len(v.Elems); i += 2 {
		m[v.Elems[i].Text()] = v.Elems[i+1]
	}
	return m
}

// database reads one database.
func (c *Contents) database(conn *client.Client, db int) error {
	if _, err := conn.Do("SELECT", db); err != nil {
		return err
	}
	names := map[string]bool{}
	for cursor := "0"; ; {
		v, err := conn.Do("SCAN", cursor, "COUNT", 1000)
		if err != nil {
			return err
		}
		if len(v.Elems) != 2 {
			return fmt.Errorf("SCAN: %s", v)
		}
		for _, key := range v.Elems[1].Strings() {
			names[key] = true
		}
		if cursor = v.Elems[0].Text(); cursor == "0" {
			break
		}
	}
	for keys := range slices.Chunk(slices.Sorted(maps.Keys(names)), 200) {
		if err := c.keys(conn, db, keys); err != nil {
			return err
		}
	}
	return nil
}

// keys reads keys of a database. Those that have gone are left out.
func (c *Contents) keys(conn *client.Client, db int, keys []string) error {
	for _, key := range keys {
		conn.Queue("TYPE", key)
		conn.Queue("PEXPIRETIME", key)
	}
	heads, err := conn.Pipeline()
	if err != nil {
		return err
	}
	for i, key := range keys {
		conn.QueueArgs(readers(heads[2*i].Text(), key)...)
	}
	values, err := conn.Pipeline()
	if err != nil {
		return err
	}
	for i, key := range keys {
		typ, name := heads[2*i].Text(), fmt.Sprintf("db %d %q", db, key)
		if typ == "none" || values[i].IsNull() {
			continue
		}
		text, err := c.value(conn, typ, name, key, values[i])
		if err != nil {
			return err
		}
		c.facts[name] = fmt.Sprintf("%s until %s: %s", typ, heads[2*i+1], text)
	}
	return nil
}

// readers returns the command that reads a whole value.
func readers(typ, key string) [][]byte {
	words := map[string][]string{
		"none":   {"PING"},
		"string": {"GET", key},
		"list":   {"LRANGE", key, "0", "-1"},
		"set":    {"SMEMBERS", key},
		"hash":   {"HGETALL", key},
		"zset":   {"ZRANGE", key, "0", "-1", "WITHSCORES"},
		"stream": {"XRANGE", key, "-", "+"},
	}[typ]
	if words == nil {
		words = []string{"DUMP", key}
	}
	var args [][]byte
	for _, w := range words {
		args = append(args, []byte(w))
	}
	return args
}

// value renders what was read of a value.
func (c *Contents) value(conn *client.Client, typ, name, key string, v client.Value) (string,
	error) {
	switch typ {
	case "set":
		members := v.Strings()
		slices.Sort(members)
		return fmt.Sprintf("%q", members), nil
	case "hash":
		return c.hash(conn, name, key, v)
	case "zset":
		return scores(v), nil
	case "stream":
		full, err := conn.Do("XINFO", "STREAM", key, "FULL", "COUNT", 0)
		return v.String() + "\n" + stream(full), err
	}
	return v.String(), nil
}

// scores renders a sorted set. Redis 7.0 prints scores with more digits than they need.
func scores(v client.Value) string {
	var b strings.Builder
	for i := 0; i+1 < len(v.Elems); i += 2 {
		score := v.Elems[i+1].Text()
		if f, err := strconv.ParseFloat(score, 64); err == nil {
			score = strconv.FormatFloat(f, 'g', -1, 64)
		}
		fmt.Fprintf(&b, "%q=%s ", v.Elems[i].Text(), score)
	}
	return b.String()
}

// hash renders a hash and reads the deadlines of its fields.
func (c *Contents) hash(conn *client.Client, name, key string, v client.Value) (string, error) {
	m := named(v)
	fields := slices.Sorted(maps.Keys(m))
	if len(fields) == 0 {
		return "", nil
	}
	var pairs []string
	args := []any{"HPEXPIRETIME", key, "FIELDS", len(fields)}
	for _, f := range fields {
		pairs = append(pairs, fmt.Sprintf("%q=%q", f, m[f].Text()))
		args = append(args, f)
	}
	if !c.fieldless {
		until, err := conn.Do(args...)
		if err != nil {
			return "", err
		}
		c.fieldless = until.IsError()
		c.fields[name] = until.String()
	}
	return strings.Join(pairs, " "), nil
}

// streamFacts are the names within XINFO STREAM FULL that are the same on a master and its
// replicas, whatever servers they are. Redis and Valkey do not tell their replicas how many entries
// a group has read, nor of consumers that XAUTOCLAIM has made without giving them an entry, nor of
// a consumer that reads again what it has, which counts as a delivery.
var streamFacts = []string{"length", "last-generated-id", "max-deleted-entry-id", "entries-added",
	"groups", "name", "last-delivered-id", "pel-count", "pel", "consumers", "pending"}

// stream renders XINFO STREAM FULL. Of pending entries it leaves out when and how often they were
// delivered, and it leaves out consumers that have none.
func stream(v client.Value) string {
	var b strings.Builder
	m := named(v)
	if _, consumer := m["seen-time"]; consumer && m["pel-count"].Int == 0 {
		return ""
	}
	for _, name := range streamFacts {
		switch value, has := m[name]; {
		case !has:
		case name == "groups" || name == "consumers":
			var list []string
			for _, one := range value.Elems {
				if text := stream(one); text != "" {
					list = append(list, text)
				}
			}
			slices.Sort(list)
			fmt.Fprintf(&b, "%s %q ", name, list)
		case name == "pel" || name == "pending":
			for _, e := range value.Elems { // id, consumer, time, count; or without consumer
				if len(e.Elems) > 2 {
					fmt.Fprintf(&b, "%s ", e.Elems[0].Text())
				}
			}
		default:
			fmt.Fprintf(&b, "%s=%s ", name, value)
		}
	}
	return b.String()
}

// Differences compares the data of two servers. It returns "" if they are equal, else the first
// differences as text.
func Differences(a, b *Server) (string, error) {
	ours, err := a.Read()
	if err != nil {
		return "", err
	}
	theirs, err := b.Read()
	if err != nil {
		return "", err
	}
	return ours.Compare(theirs), nil
}

// Compare returns "" if both have the same data, else the first differences as text.
func (c *Contents) Compare(other *Contents) string {
	diff := compare(c.facts, other.facts)
	if !c.fieldless && !other.fieldless {
		diff = append(diff, compare(c.fields, other.fields)...)
	}
	if n := len(diff); n > 10 {
		diff = append(diff[:10], fmt.Sprintf("… %d differences in all", n))
	}
	return strings.Join(diff, "\n")
}

func compare(a, b map[string]string) (diff []string) {
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if a[name] != b[name] {
			diff = append(diff, fmt.Sprintf("%s:\n  %s\n  %s", name, shown(a, name),
				shown(b, name)))
		}
	}
	return diff
}

// shown returns a fact for a message.
func shown(m map[string]string, name string) string {
	text, has := m[name]
	if !has {
		return "(missing)"
	}
	if len(text) > 1000 {
		text = text[:1000] + "…"
	}
	return text
}
