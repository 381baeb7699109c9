package compare

import (
	"errors"
	"regexp"
	"strings"
	"time"

	"godwit/internal/resp/client"
)

// Server runs programs with EVAL.
type Server struct {
	network, addr string
	c             *client.Client
}

// NewServer connects to a server.
func NewServer(network, addr string) (*Server, error) {
	s := &Server{network: network, addr: addr}
	return s, s.connect()
}

func (s *Server) connect() (err error) {
	if s.c, err = client.Dial(s.network, s.addr); err == nil {
		s.c.Timeout = patience
	}
	return err
}

// Run implements Engine. It sends all programs at once, but one by one if one does not end.
func (s *Server) Run(programs ...string) ([]string, error) {
	for _, p := range programs {
		s.c.Queue("EVAL", p, 0)
	}
	values, err := s.c.Pipeline()
	if err != nil {
		return s.again(programs, err)
	}
	results := make([]string, len(values))
	for i, v := range values {
		results[i] = plain(v)
		if strings.HasPrefix(v.Text(), "BUSY ") { // with a program of another connection
			time.Sleep(100 * time.Millisecond)
			return s.Run(programs...)
		}
	}
	return results, nil
}

// again ends the program that the server is busy with and runs all again.
func (s *Server) again(programs []string, err error) ([]string, error) {
	s.Close()
	if err2 := s.connect(); err2 != nil {
		return nil, errors.Join(err, err2)
	}
	if _, err := s.c.Do("SCRIPT", "KILL"); err != nil {
		return nil, err
	}
	if len(programs) == 1 {
		return []string{Timeout}, nil
	}
	var results []string
	for _, p := range programs {
		r, err := s.Run(p)
		if err != nil {
			return nil, err
		}
		results = append(results, r...)
	}
	return results, nil
}

// Close implements Engine.
func (s *Server) Close() { s.c.Close() }

// plain returns the result that a reply stands for.
func plain(v client.Value) string {
	switch {
	case v.IsError():
		return plainError(v.Text())
	case v.Kind == client.Bulk && !v.IsNull():
		return v.Text()
	}
	return noString
}

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
