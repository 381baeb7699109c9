package server

import "godwit/internal/config"

// TuneRuntime sets the Go runtime up for a server.
func TuneRuntime(*config.Config) {}
