package object

import (
	"bytes"

	"godwit/internal/listpack"
)

// ScoreRange is an interval of scores. Min and Max belong to it unless MinEx and MaxEx say
// otherwise.
type ScoreRange struct {
	Min, Max     float64
	MinEx, MaxEx bool
}

// ParseScoreRange reads the two bounds of a range of scores: numbers, inf and -inf, each with (
// before it if it does not belong to the range. It reports false for what ParsePlain refuses
// (Redis: "ERR min or max is not a float").
func ParseScoreRange(minText, maxText []byte) (r ScoreRange, ok bool) {
	if r.Min, r.MinEx, ok = parseScoreBound(minText); !ok {
		return r, false
	}
	r.Max, r.MaxEx, ok = parseScoreBound(maxText)
	return r, ok
}

func parseScoreBound(b []byte) (f float64, ex, ok bool) {
	if len(b) > 0 && b[0] == '(' {
		b, ex = b[1:], true
	}
	f, ok = ParsePlain(b)
	return f, ex, ok
}

// Empty reports whether no score can be in the range.
func (r *ScoreRange) Empty() bool {
	return r.Min > r.Max || r.Min == r.Max && (r.MinEx || r.MaxEx)
}

// Has reports whether the score is in the range.
func (r *ScoreRange) Has(score float64) bool { return !r.below(score) && !r.above(score) }

// below reports whether the score is too small for the range.
func (r *ScoreRange) below(score float64) bool { return score < r.Min || r.MinEx && score == r.Min }

// above reports whether the score is too large for the range.
func (r *ScoreRange) above(score float64) bool { return score > r.Max || r.MaxEx && score == r.Max }

// LexBound is one end of a range of members. With Inf below 0 it is before every member, above 0
// behind every one. With 0 the end is Value, which belongs to the range unless Ex.
type LexBound struct {
	Inf   int8
	Ex    bool
	Value []byte
}

// LexRange is an interval of members in the order of their bytes. It means something only in a
// sorted set whose scores are all the same.
type LexRange struct{ Min, Max LexBound }

// ParseLexRange reads the two bounds of a range of members: - and + for the ends, [ before a member
// that belongs to the range, ( before one that does not. It reports false for anything else (Redis:
// "ERR min or max not valid string range item"). The bounds alias the texts.
func ParseLexRange(minText, maxText []byte) (r LexRange, ok bool) {
	if r.Min, ok = parseLexBound(minText); !ok {
		return r, false
	}
	r.Max, ok = parseLexBound(maxText)
	return r, ok
}

func parseLexBound(b []byte) (LexBound, bool) {
	if len(b) == 0 {
		return LexBound{}, false
	}
	switch b[0] {
	case '[':
		return LexBound{Value: b[1:]}, true
	case '(':
		return LexBound{Value: b[1:], Ex: true}, true
	case '-':
		return LexBound{Inf: -1, Ex: true}, len(b) == 1 || b[1] == 0
	case '+':
		return LexBound{Inf: 1, Ex: true}, len(b) == 1 || b[1] == 0
	}
	return LexBound{}, false
}

// Empty reports whether no member can be in the range.
func (r *LexRange) Empty() bool {
	if r.Min.Inf != 0 || r.Max.Inf != 0 {
		return r.Min.Inf > 0 || r.Max.Inf < 0
	}
	c := bytes.Compare(r.Min.Value, r.Max.Value)
	return c > 0 || c == 0 && (r.Min.Ex || r.Max.Ex)
}

// below reports whether the member comes before the range.
func (r *LexRange) below(m listpack.Value) bool {
	if r.Min.Inf != 0 {
		return r.Min.Inf > 0
	}
	c := compareValue(m, r.Min.Value)
	return c < 0 || c == 0 && r.Min.Ex
}

// above reports whether the member comes behind the range.
func (r *LexRange) above(m listpack.Value) bool {
	if r.Max.Inf != 0 {
		return r.Max.Inf < 0
	}
	c := compareValue(m, r.Max.Value)
	return c > 0 || c == 0 && r.Max.Ex
}

// Has reports whether the member is in the range.
func (r *LexRange) Has(m listpack.Value) bool { return !r.below(m) && !r.above(m) }

// compareValue compares a member's bytes with b.
func compareValue(m listpack.Value, b []byte) int {
	if !m.IsInt {
		return bytes.Compare(m.B, b)
	}
	var scratch [24]byte
	return bytes.Compare(m.Append(scratch[:0]), b)
}
