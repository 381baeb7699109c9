//go:build !race

package testserver

// Race reports whether the test, and the server that Binary builds, run under the race detector.
const Race = false
