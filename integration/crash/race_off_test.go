//go:build !race

package crash

// raceEnabled says that the tests run under the race detector: so does the server that they build.
const raceEnabled = false
