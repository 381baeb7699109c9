package compare

import "strings"

// rules are the differences that have a reason. Each turns a result into what is compared.
var rules = []struct {
	reason string
	plain  func(string) string
}{
	{"the sign of a NaN comes from the processor and from which operand a compiler loads first",
		func(s string) string { return strings.ReplaceAll(s, "-nan", "nan") }},
}

// explained returns why two results differ, or "".
func explained(want, got string) string {
	for _, r := range rules {
		if r.plain(want) == r.plain(got) {
			return r.reason
		}
	}
	return ""
}
