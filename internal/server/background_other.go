//go:build !unix

package server

import "syscall"

func newSession() *syscall.SysProcAttr { return nil }
