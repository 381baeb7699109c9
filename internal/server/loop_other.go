//go:build !linux

package server

import (
	"errors"
	"net"

	"godwit/internal/evloop"
)

// loop is empty where there is no epoll: every connection has goroutines.
type loop struct{ ev *evloop.Loop }

func newLoop(*Server, int) (*loop, error) { return nil, errors.ErrUnsupported }

func (l *loop) adopt(net.Conn, peer) error { return errors.ErrUnsupported }

func (l *loop) run() error { return errors.ErrUnsupported }

func (l *loop) close() {}
