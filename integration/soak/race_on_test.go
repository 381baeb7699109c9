//go:build race

package soak

// raceEnabled says that the tests run under the race detector.
const raceEnabled = true
