//go:build freebsd || dragonfly

package server

func rlimValue(n uint64) int64 { return int64(n) }
