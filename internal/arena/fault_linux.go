package arena

import "golang.org/x/sys/unix"

// Fault writes to memory that must not be written, as a wild Ref would. It is for tests of crash
// reports.
func Fault() {
	b, err := unix.Mmap(-1, 0, 1, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		panic("arena: mmap: " + err.Error())
	}
	b[0] = 1
}
