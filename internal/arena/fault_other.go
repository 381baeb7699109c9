//go:build !linux

package arena

// Fault writes to memory that is not there: for tests of crash reports.
func Fault() {
	var nowhere []byte
	nowhere[:1][0] = 1
}
