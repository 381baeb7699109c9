//go:build !unix

package server

import (
	"errors"
	"time"
)

func (s *Server) restart(bool, time.Duration) error { return errors.ErrUnsupported }

// Again starts the program again where that is supported.
func (s *Server) Again() {}
