package crash

import (
	"os"
	"runtime/debug"
	"time"
)

// followEvery is how often to look whether the log file was rotated.
const followEvery = time.Second

// Follow makes the runtime write its last words to the file at path too, as long as the process
// lives. If the file is moved away or deleted, they go to the one that takes its place. Without a
// path they go to standard error alone.
func Follow(path string) {
	debug.SetTraceback("all")
	if path == "" {
		return
	}
	f := follower{path: path}
	f.look()
	go func() {
		defer Guard("following the log file")()
		for range time.Tick(followEvery) {
			f.look()
		}
	}()
}

// follower knows which file the runtime has.
type follower struct {
	path string
	file os.FileInfo
}

// look gives the runtime the file that is at path now.
func (f *follower) look() {
	if info, err := os.Stat(f.path); err == nil && f.file != nil && os.SameFile(info, f.file) {
		return
	}
	file, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return // the log has the same trouble and reports it
	}
	defer file.Close() // the runtime has a duplicate
	if debug.SetCrashOutput(file, debug.CrashOptions{}) == nil {
		f.file, _ = file.Stat() // if this fails, the next look tries again
	}
}
