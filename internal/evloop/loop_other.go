//go:build !linux

package evloop

import (
	"errors"
	"syscall"
	"time"
)

// Event bits, for Add, Mod and Ready.
const (
	Readable uint32 = 1 << iota
	Writable
	Hangup
	PeerClosed
	Error
	EdgeTriggered
)

// ErrUnsupported is the error of everything here on systems without epoll, which use a goroutine
// for each connection.
var ErrUnsupported = errors.New("evloop: needs Linux")

// Loop cannot be made on this system.
type Loop struct{}

// New returns ErrUnsupported.
func New() (*Loop, error) { return nil, ErrUnsupported }

// Close does nothing.
func (l *Loop) Close() error { return nil }

// KeepProcessor does nothing.
func (l *Loop) KeepProcessor(spawn func()) {}

// Len returns 0.
func (l *Loop) Len() int { return 0 }

// Add returns ErrUnsupported.
func (l *Loop) Add(fd int, h Handler, events uint32) error { return ErrUnsupported }

// Mod returns ErrUnsupported.
func (l *Loop) Mod(fd int, events uint32) error { return ErrUnsupported }

// Del returns ErrUnsupported.
func (l *Loop) Del(fd int) error { return ErrUnsupported }

// Wake does nothing.
func (l *Loop) Wake() {}

// Poll returns ErrUnsupported.
func (l *Loop) Poll(timeout time.Duration) (n int, err error) { return 0, ErrUnsupported }

// After returns a stopped timer.
func (l *Loop) After(ms int, fn func()) *Timer { return &Timer{} }

// Every returns a stopped timer.
func (l *Loop) Every(ms int, fn func()) *Timer { return &Timer{} }

// Read returns ENOSYS.
func Read(fd int, buf []byte) (n int, errno syscall.Errno) { return 0, syscall.ENOSYS }

// Write returns ENOSYS.
func Write(fd int, buf []byte) (n int, errno syscall.Errno) { return 0, syscall.ENOSYS }

// Writev returns ENOSYS.
func Writev(fd int, bufs [][]byte) (n int, errno syscall.Errno) { return 0, syscall.ENOSYS }
