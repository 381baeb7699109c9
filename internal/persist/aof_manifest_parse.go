package persist

import (
	"bytes"
	"strconv"
	"strings"
)

// parseManifest reads a manifest. name is for errors, which are ManifestErrors.
func parseManifest(name string, text []byte) (*manifest, error) {
	m := &manifest{}
	if len(text) == 0 {
		return nil, &ManifestError{File: name, Reason: "Found an empty AOF manifest"}
	}
	seen := map[string]bool{}
	for n := 1; len(text) > 0; n++ {
		line, rest, ended := bytes.Cut(text, []byte{'\n'})
		text = rest
		if len(line) > 0 && line[0] == '#' {
			continue
		}
		fail := func(reason string) (*manifest, error) {
			return nil, &ManifestError{name, n, string(line[:min(len(line), manifestLine)]), reason}
		}
		if !ended || len(line) >= manifestLine {
			return fail("The AOF manifest file contains too long line")
		}
		f, reason := parseManifestLine(string(line))
		// What is accepted has to be written again, with its escapes.
		if reason == "" && len(f.append(nil)) > manifestLine {
			reason = "The AOF manifest file contains too long line"
		}
		if reason == "" && seen[f.name] {
			reason = "Found the same file twice"
		}
		if reason == "" {
			seen[f.name] = true
			reason = m.take(f)
		}
		if reason != "" {
			return fail(reason)
		}
	}
	if m.empty() { // the server would start without data, and go on to delete what is left of it
		return nil, &ManifestError{File: name, Reason: "The AOF manifest names no file to load"}
	}
	return m, nil
}

const badManifest = "Invalid AOF manifest file format"

func parseManifestLine(line string) (f aofFile, reason string) {
	words, ok := splitWords(strings.Trim(line, " \t\r\n"))
	if !ok || len(words) < 6 || len(words)%2 != 0 {
		return f, badManifest
	}
	for i := 0; i < len(words); i += 2 {
		value := words[i+1]
		switch strings.ToLower(words[i]) {
		case "file":
			if strings.ContainsAny(value, `/\`) || value == "." || value == ".." ||
				strings.IndexByte(value, 0) >= 0 {
				return f, "File can't be a path, just a filename"
			}
			f.name = value
		case "seq":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil || n <= 0 {
				return f, badManifest + ": seq is not a positive number"
			}
			if n > maxSeq {
				return f, badManifest + ": seq is too large to go on from"
			}
			f.seq = n
		case "type":
			if len(value) != 1 {
				return f, "Unknown AOF file type"
			}
			f.kind = value[0]
		}
	}
	if f.name == "" || f.seq == 0 || f.kind == 0 {
		return f, badManifest
	}
	return f, ""
}

// take adds a line's file; it returns what is wrong with it.
func (m *manifest) take(f aofFile) (reason string) {
	switch f.kind {
	case fileBase:
		if m.base != nil {
			return "Found duplicate base file information"
		}
		m.base, m.baseSeq = &f, f.seq
	case fileHistory:
		m.history = append(m.history, f)
	case fileIncr:
		if f.seq <= m.incrSeq {
			return "Found a non-monotonic sequence number"
		}
		m.incr, m.incrSeq = append(m.incr, f), f.seq
	default:
		return "Unknown AOF file type"
	}
	return ""
}

// splitWords cuts a line into words, which may be in double quotes (with escapes) or single ones.
func splitWords(s string) (words []string, ok bool) {
	for {
		s = strings.TrimLeft(s, " \t\r\n\v\f")
		if s == "" {
			return words, true
		}
		var w []byte
		if w, s, ok = nextWord(s); !ok {
			return nil, false
		}
		words = append(words, string(w))
	}
}

func nextWord(s string) (w []byte, rest string, ok bool) {
	for s != "" && !isSpace(s[0]) {
		switch c := s[0]; {
		case c == '"' || c == '\'':
			if w, s, ok = quotedPart(w, s[1:], c); !ok || s != "" && !isSpace(s[0]) {
				return nil, "", false
			}
			return w, s, true
		default:
			w = append(w, c)
			s = s[1:]
		}
	}
	return w, s, true
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// quotedPart reads up to the closing quote q.
func quotedPart(w []byte, s string, q byte) (_ []byte, rest string, ok bool) {
	for s != "" {
		c := s[0]
		switch {
		case c == q:
			return w, s[1:], true
		case c == '\\' && q == '"' && len(s) >= 4 && s[1] == 'x' && isHex(s[2]) && isHex(s[3]):
			n, _ := strconv.ParseUint(s[2:4], 16, 8)
			w = append(w, byte(n))
			s = s[4:]
			continue
		case c == '\\' && q == '"' && len(s) >= 2:
			c = s[1]
			if i := strings.IndexByte("nrtba", c); i >= 0 {
				c = "\n\r\t\b\a"[i]
			}
			s = s[1:]
		case c == '\\' && q == '\'' && len(s) >= 2 && s[1] == '\'':
			c = '\''
			s = s[1:]
		}
		w = append(w, c)
		s = s[1:]
	}
	return nil, "", false
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}
