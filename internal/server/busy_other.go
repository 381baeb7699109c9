//go:build !linux

package server

import "godwit/internal/engine"

// serveBusy is never called: there are no loops.
func (*loop) serveBusy(*engine.Client) {}
