package crash

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// producing is what a stream keeps of its producers, in a plain model. Only the server can choose
// the IDs of what producers add, so such streams have keys of their own, and their entries no IDs
// in the model. What an entry holds tells which it is. An idempotent ID that the server has lost,
// or kept too long, shows when it is sent again: there are few.
type producing struct {
	duration, maxSize int64
	pids, iids        int64
	known             map[string][]string // idempotent IDs by producer, oldest first; not read back
}

// aDay is how long records count in seconds, at least: none is over while the test runs.
const aDay = 80_000

func isProducing(key string) bool { return strings.Contains(key, "idmp") }

func (p *producing) clone() *producing {
	if p == nil {
		return nil
	}
	c := *p
	c.known = maps.Clone(p.known)
	return &c
}

// set changes the settings. If they are others, all records go.
func (p *producing) set(duration, maxSize int64) {
	if duration != p.duration || maxSize != p.maxSize {
		*p = producing{duration, maxSize, 0, 0, map[string][]string{}}
	}
}

// note records an idempotent ID and reports whether it was new.
func (p *producing) note(pid, iid string) bool {
	iids := p.known[pid]
	if slices.Contains(iids, iid) {
		return false
	}
	iids = append(slices.Clip(iids), iid)
	p.known[pid] = iids[max(0, len(iids)-int(p.maxSize)):]
	p.pids, p.iids = int64(len(p.known)), 0
	for _, iids := range p.known {
		p.iids += int64(len(iids))
	}
	return true
}

// text renders the stream, in a fixed order.
func (p *producing) text(st *stream) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d added, %d s, %d of %d producers %d", st.added, p.duration, p.iids, p.pids,
		p.maxSize)
	for _, e := range st.entries {
		b.WriteString(" " + e.fields)
	}
	return b.String()
}

// produce adds what a producer may have sent before, and changes settings.
func (g *generator) produce() []*unit {
	k := g.key("idmp")
	switch g.rnd.IntN(24) {
	case 0, 1:
		duration, maxSize := int64(aDay+g.rnd.IntN(2)), int64(4+16*g.rnd.IntN(2))
		return g.together([]*unit{{
			cmds: [][]string{{"XGROUP", "CREATE", k, "g", "0", "MKSTREAM"},
				{"XCFGSET", k, "IDMP-DURATION", strconv.FormatInt(duration, 10),
					"IDMP-MAXSIZE", strconv.FormatInt(maxSize, 10)}},
			apply: func(s state) {
				st := s.makeStream(k)
				if st.producing == nil {
					st.producing = &producing{}
				}
				st.producing.set(duration, maxSize)
			}}})
	case 2:
		return one(func(s state) { delete(s, k) }, "DEL", k)
	case 3:
		if to := g.key("idmp"); to != k {
			return one(func(s state) {
				if v := s[k]; v != nil {
					s[to] = v.clone()
				}
			}, "COPY", k, to, "REPLACE")
		}
	}
	pid, iid := "p"+strconv.Itoa(g.rnd.IntN(4)), "i"+strconv.Itoa(g.rnd.IntN(40))
	args, fields := []string{"IDMP", pid, iid}, []string{"producer", pid, "entry", iid}
	if g.rnd.IntN(3) == 0 { // the fields make the idempotent ID
		args, iid = []string{"IDMPAUTO", pid}, "auto "+iid
	}
	return one(func(s state) {
		if st := s.streamOf(k); st != nil && st.producing.note(pid, iid) {
			st.entries = append(st.entries, entry{fields: fmt.Sprintf("%q", fields)})
			st.added++
		}
	}, slices.Concat([]string{"XADD", k, "NOMKSTREAM"}, args, []string{"*"}, fields)...)
}
