//go:build !linux

package arena

// Fault writes to memory that does not exist. It is for tests of crash reports.
func Fault() {
	var nowhere []byte
	nowhere[:1][0] = 1
}
