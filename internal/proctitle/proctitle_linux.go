// Package proctitle changes what other processes see as this one's command line (ps,
// /proc/PID/cmdline), so that a password given as an argument does not stay visible.
//
// The kernel shows the memory that the process began with:
//
//	arg start            arg end = env start        env end
//	| argv[0] NUL argv[1] NUL … | NAME=value NUL …       |
//	| title NUL NUL NUL …                                |
//
// A title is written over the arguments, and over the environment after them if it needs the room:
// the kernel reads on there if the last byte of the arguments is not NUL. Go keeps copies of the
// environment, but its os.Args are the memory itself, so Take first replaces them by copies.
package proctitle

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"unsafe"
)

// area is the memory of the title. It is nil if it is not known.
var area []byte

// Take makes the arguments' memory ready for Set. It must be called first in main: strings taken
// from os.Args before change with the title.
func Take() {
	if area != nil || len(os.Args) == 0 || os.Args[0] == "" {
		return
	}
	start := unsafe.StringData(os.Args[0])
	size := 0
	for i, arg := range os.Args {
		if len(arg) > 0 &&
			unsafe.Pointer(unsafe.StringData(arg)) != unsafe.Add(unsafe.Pointer(start), size) {
			return // the arguments are not one piece of memory: somebody has replaced them
		}
		os.Args[i] = strings.Clone(arg)
		size += len(arg) + 1
	}
	if n, ok := withEnvironment(uintptr(unsafe.Pointer(start)), size); ok {
		size = n
	}
	area = unsafe.Slice(start, size)
}

// withEnvironment returns the size of the arguments and the environment after them. It reports
// whether the kernel agrees where the arguments are.
func withEnvironment(start uintptr, size int) (int, bool) {
	raw, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, false
	}
	// The name of the program is in parentheses and may hold anything. Fields 48 to 51 are
	// arg_start, arg_end, env_start and env_end.
	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
	if len(fields) < 49 {
		return 0, false
	}
	var at [4]uintptr
	for i := range at {
		n, err := strconv.ParseUint(fields[45+i], 10, 64)
		if err != nil {
			return 0, false
		}
		at[i] = uintptr(n)
	}
	if at[0] != start || at[1] != start+uintptr(size) || at[2] != at[1] || at[3] < at[2] {
		return 0, false
	}
	return int(at[3] - at[0]), true
}

// Set makes title the command line, cut to the available room. Without Take it does nothing. Calls
// must not overlap.
func Set(title string) {
	if area == nil {
		return
	}
	n := copy(area[:len(area)-1], title)
	clear(area[n:])
}
