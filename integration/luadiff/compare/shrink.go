package compare

import (
	"slices"
	"strings"

	"godwit/internal/lua/luagen"
)

// Shrink returns a shorter program that makes a difference too. It leaves out lines, what stands in
// brackets, blocks and tokens as long as that goes. What all programs begin with stays.
func (p Pair) Shrink(d Difference) Difference {
	body := luagen.Body(d.Program)
	s := shrinker{p, d, strings.TrimSuffix(d.Program, body)}
	for before := -1; before != len(s.best.Program); {
		before = len(s.best.Program)
		s.runs(func(text string) []string { return strings.SplitAfter(text, "\n") })
		s.pairs()
		s.runs(luagen.Tokens)
	}
	return s.best
}

type shrinker struct {
	pair Pair
	best Difference
	head string // what stays
}

func (s *shrinker) body() string { return s.best.Program[len(s.head):] }

// try makes the pieces the program if they make a difference.
func (s *shrinker) try(pieces []string) bool {
	found := s.pair.try(s.best, s.head+strings.Join(pieces, ""))
	if found != nil {
		s.best = *found
	}
	return found != nil
}

// runs leaves out runs of pieces, long ones first.
func (s *shrinker) runs(split func(string) []string) {
	pieces := split(s.body())
	for size := len(pieces) / 2; size > 0; size /= 2 {
		for at := 0; at < len(pieces); {
			rest := slices.Delete(slices.Clone(pieces), at, min(at+size, len(pieces)))
			if s.try(rest) {
				pieces = rest
			} else {
				at += size
			}
		}
	}
}

// pairs leaves out what begins with a token and ends with the one that closes it, or those two
// alone, or puts nil in their place.
func (s *shrinker) pairs() {
	tokens := luagen.Tokens(s.body())
	for at := 0; at < len(tokens); at++ {
		end := closing(tokens, at)
		if end < 0 {
			continue
		}
		inner := slices.Concat([]string{" "}, tokens[at+1:end], []string{" "})
		for _, by := range [][]string{nil, {" nil"}, inner} {
			rest := slices.Concat(tokens[:at], by, tokens[end+1:])
			if s.try(rest) {
				tokens = rest
				at--
				break
			}
		}
	}
}

// opens counts how many an open bracket or block each token opens or closes.
var opens = map[string]int{"(": 1, "{": 1, "[": 1, "function": 1, "if": 1, "do": 1, "repeat": 1,
	")": -1, "}": -1, "]": -1, "end": -1, "until": -1}

// closing returns where what a token opens ends, or -1.
func closing(tokens []string, at int) int {
	depth := 0
	for i := at; i < len(tokens); i++ {
		depth += opens[strings.TrimSpace(tokens[i])]
		if depth <= 0 {
			if i == at {
				return -1
			}
			return i
		}
	}
	return -1
}

// try returns the difference that a program makes, if it is of d's class.
func (p Pair) try(d Difference, program string) *Difference {
	if len(program) >= len(d.Program) {
		return nil
	}
	want, err := p.Judge.Run(program)
	if err != nil || unusable(want[0], d.Want) {
		return nil
	}
	found, err := p.Check(program)
	if err != nil || len(found) == 0 || unusable(found[0].Got, d.Got) ||
		found[0].Class() != d.Class() {
		return nil
	}
	return &found[0]
}

// unusable reports whether a program that is to become smaller fails for another reason than
// before.
func unusable(now, before string) bool {
	if strings.Contains(now, "not enough memory") {
		return true
	}
	for _, kind := range []string{"compile: ", Timeout, "crash: "} {
		if strings.HasPrefix(now, kind) && !strings.HasPrefix(before, kind) {
			return true
		}
	}
	return false
}
