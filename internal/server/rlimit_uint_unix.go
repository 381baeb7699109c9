//go:build unix && !freebsd && !dragonfly

package server

func rlimValue(n uint64) uint64 { return n }
