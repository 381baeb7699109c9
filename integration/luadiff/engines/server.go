package engines

import (
	"regexp"
	"strings"

	"godwit/internal/resp/client"
)

// Server runs programs with EVAL.
type Server struct{ c *client.Client }

// NewServer returns an engine over a connection that it takes ownership of.
func NewServer(c *client.Client) *Server {
	c.Timeout = patience
	return &Server{c}
}

// Run implements Engine. It sends all programs at once.
func (s *Server) Run(programs ...string) ([]string, error) {
	for _, p := range programs {
		s.c.Queue("EVAL", p, 0)
	}
	values, err := s.c.Pipeline()
	if err != nil {
		return nil, err
	}
	results := make([]string, len(values))
	for i, v := range values {
		results[i] = v.Text()
		if v.IsError() {
			results[i] = plainError(v.Text())
		}
	}
	return results, nil
}

// Close implements Engine.
func (s *Server) Close() { s.c.Close() }

// place matches what EVAL adds to the message of an error.
var place = regexp.MustCompile(`(?s) script: [0-9a-f]{40}, on .*$`)

// plainError returns a message without what EVAL adds to it.
func plainError(text string) string {
	text = strings.TrimPrefix(text, "ERR ")
	if rest, ok := strings.CutPrefix(text, "Error compiling script (new function): "); ok {
		return "compile: " + rest
	}
	return "error: " + place.ReplaceAllString(text, "")
}
