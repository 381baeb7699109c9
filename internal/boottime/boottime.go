// Package boottime reads the clock that leases of a cluster go by: CLOCK_BOOTTIME. It runs on while
// the process is stopped or the machine sleeps, and nobody can set it. Readings of different
// machines have nothing to do with each other.
package boottime
