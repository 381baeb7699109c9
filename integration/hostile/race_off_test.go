//go:build !race

package hostile

// raceEnabled says that the tests run under the race detector: so does the server that they build.
const raceEnabled = false
