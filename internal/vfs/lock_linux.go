package vfs

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// systemHolder asks the system who has the lock on f. /proc/locks has lines like
//
//	3: FLOCK  ADVISORY  WRITE 4711 fd:01:1835 0 EOF
func systemHolder(f *os.File) int {
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil {
		return 0
	}
	text, err := os.ReadFile("/proc/locks")
	if err != nil {
		return 0
	}
	node := ":" + fmt.Sprint(st.Ino)
	dev := fmt.Sprintf("%02x:%02x", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)))
	pid := 0
	for line := range strings.Lines(string(text)) {
		w := strings.Fields(line)
		if len(w) < 6 || w[1] != "FLOCK" || w[3] != "WRITE" || !strings.HasSuffix(w[5], node) {
			continue
		}
		// Some file systems report another device number here than by stat.
		if n, err := strconv.Atoi(w[4]); err == nil && (pid == 0 || w[5] == dev+node) {
			pid = n
		}
	}
	return pid
}

// ending reports whether a process is ending: it has no memory any more, or none that is its own.
func ending(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	return err == nil && strings.HasPrefix(string(text), "0 ")
}
