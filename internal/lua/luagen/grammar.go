package luagen

import (
	_ "embed" // for the grammar
	"regexp"
	"strconv"
	"strings"
	"sync"
)

//go:embed grammar.txt
var grammarText string

// production is one way to write something of a kind.
type production struct {
	weight int
	needs  string // "vararg", "loop", "redis" or ""
	parts  []part
	height int // of the smallest tree that begins with it
}

// part is a text, or a hole after it was cut out.
type part struct {
	text string // without a hole
	verb string // use, set, new, rec or ""
	kind string // of the hole
}

// kind is all productions of one name.
type kind struct {
	all    []*production
	height int
}

var grammar = sync.OnceValue(func() map[string]*kind { return parseGrammar(grammarText) })

var (
	productionLine = regexp.MustCompile(`^([a-z][a-z0-9]*) (\d+):(?: (.*))?$`)
	hole           = regexp.MustCompile(`\{(?:(use|set|new|rec|\?) ?)?([a-z][a-z0-9]*)\}`)
)

// parseGrammar reads grammar.txt. It panics if the text is wrong.
func parseGrammar(text string) map[string]*kind {
	g := map[string]*kind{}
	var last *production
	var template string
	finish := func() {
		if last != nil {
			last.parse(template)
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "  "); ok {
			template += "\n" + rest
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		m := productionLine.FindStringSubmatch(line)
		if m == nil {
			panic("luagen: grammar: " + line)
		}
		finish()
		last, template = &production{}, m[3]
		last.weight, _ = strconv.Atoi(m[2])
		if g[m[1]] == nil {
			g[m[1]] = &kind{}
		}
		g[m[1]].all = append(g[m[1]].all, last)
	}
	finish()
	measure(g)
	return g
}

// parse cuts a template into its parts.
func (p *production) parse(template string) {
	at := 0
	for _, m := range hole.FindAllStringSubmatchIndex(template, -1) {
		h := part{kind: template[m[4]:m[5]]}
		if m[2] >= 0 {
			h.verb = template[m[2]:m[3]]
		}
		if text := template[at:m[0]]; text != "" {
			p.parts = append(p.parts, part{text: text})
		}
		at = m[1]
		if h.verb == "?" {
			p.needs = h.kind
			at++ // the space behind it
			continue
		}
		p.parts = append(p.parts, h)
	}
	if at < len(template) {
		p.parts = append(p.parts, part{text: template[at:]})
	}
}

// unbounded is the height of what has not been measured yet.
const unbounded = 1 << 20

// measure finds the heights of all productions, from the leaves up.
func measure(g map[string]*kind) {
	for _, k := range g {
		k.height = unbounded
	}
	for changed := true; changed; {
		changed = false
		for _, k := range g {
			for _, p := range k.all {
				p.height = 1
				for _, h := range p.parts {
					if h.kind == "" || h.verb != "" || isStructure[h.kind] {
						continue
					}
					below := g[h.kind]
					if below == nil {
						panic("luagen: grammar: no kind " + h.kind)
					}
					p.height = max(p.height, below.height+1)
				}
				if p.needs == "" && p.height < k.height {
					k.height, changed = p.height, true
				}
			}
		}
	}
}
