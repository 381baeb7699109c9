package diff

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Disk is a way for the data of both servers through files and back. It must change nothing:
// neither what commands see afterwards, nor encodings beyond what loading does to them in
// redis-server too.
type Disk string

const (
	// Reload has each server save a snapshot and read it back.
	Reload Disk = "reload"
	// Swap has each server save a snapshot and read the other's.
	Swap Disk = "swap"
	// Log turns the append-only files on. Where they are on already, each server reads its own: the
	// base of that time, and the commands since.
	Log Disk = "log"
)

var errDisk = errors.New("unknown way through the files")

func (d Disk) check() error {
	switch d {
	case Reload, Swap, Log:
		return nil
	}
	return errDisk
}

// way returns a random way. A round that sorts takes no other than Reload: redis's SORT changes the
// encoding of what it reads, and the file would carry that to the other server. Valkey does not
// read files with deadlines of fields that others wrote.
func (g *Generator) way() Disk {
	ways := []Disk{Reload}
	switch {
	case g.sorts:
		return Reload
	case g.cfg.Reference != Valkey9:
		ways = append(ways, Swap)
	}
	if g.logs {
		ways = append(ways, Log, Log)
	}
	return ways[g.rnd.IntN(len(ways))]
}

// hasLog reports whether the data of a round may go through a log. In such rounds consumers are
// made by commands of their own, see guardConsumer.
func hasLog(r int) bool { return r%4 <= 1 }

// dumpFile is the name of a snapshot, for both servers.
const dumpFile = "dump.rdb"

// disk takes the data of both servers through files and compares it afterwards.
func (r *Runner) disk(d Disk, at int) (*Failure, error) {
	if r.Tested.dir() == "" {
		return nil, nil // somebody else's server, with a folder that is not known
	}
	var f *Failure
	var err error
	switch d {
	case Reload:
		f, err = r.bothOK(at, "DEBUG RELOAD")
	case Swap:
		f, err = r.swap(at)
	case Log:
		f, err = r.log(at)
	}
	if f != nil || err != nil {
		return f, err
	}
	if f, err := r.state(at); f != nil || err != nil {
		return f, err
	}
	a, b, f, err := r.both(at, []Cmd{cmdOf("DEBUG", "DIGEST")})
	if f == nil && err == nil && !r.Known.equal(cmdOf("DEBUG", "DIGEST"), a[0], b[0]) {
		f = stateFailure(at, "digest", a[0].String(), b[0].String())
	}
	return f, err
}

// bothOK sends an administrator's command to both servers. It must not fail.
func (r *Runner) bothOK(at int, cmd string) (*Failure, error) {
	a, b, f, err := r.both(at, []Cmd{{Args: split(cmd)}})
	switch {
	case f != nil || err != nil:
		return f, err
	case a[0].IsErr():
		return nil, fmt.Errorf("redis: %s: %v\n%s", cmd, a[0], r.Ref.LogTail())
	case b[0].IsErr():
		return stateFailure(at, strings.ToLower(cmd), a[0].String(),
			b[0].String()+"\n"+r.Tested.LogTail()), nil
	}
	return nil, nil
}

func (r *Runner) swap(at int) (*Failure, error) {
	if r.Known.Reference == Redis7 { // It reads no later version.
		if _, err := r.admin[1].Do("CONFIG", "SET", "rdb-version", "10"); err != nil {
			return nil, err
		}
	}
	if f, err := r.bothOK(at, "SAVE"); f != nil || err != nil {
		return f, err
	}
	ref, tested := filepath.Join(r.Ref.dir(), dumpFile), filepath.Join(r.Tested.dir(), dumpFile)
	aside := ref + ".aside"
	if err := errors.Join(os.Rename(ref, aside), os.Rename(tested, ref),
		os.Rename(aside, tested)); err != nil {
		return nil, err
	}
	return r.bothOK(at, "DEBUG RELOAD NOSAVE")
}

func (r *Runner) log(at int) (*Failure, error) {
	if r.logging {
		return r.bothOK(at, "DEBUG LOADAOF")
	}
	if f, err := r.bothOK(at, "CONFIG SET appendonly yes"); f != nil || err != nil {
		return f, err
	}
	r.logging = true
	// Until the first base is written there is nothing to load.
	for deadline := time.Now().Add(ioTimeout); ; time.Sleep(time.Millisecond) {
		a, b, f, err := r.both(at, []Cmd{cmdOf("INFO", "persistence")})
		if f != nil || err != nil {
			return f, err
		}
		if !rewriting(a[0]) && !rewriting(b[0]) {
			return nil, nil
		}
		if time.Now().After(deadline) {
			return stateFailure(at, "first base of the append-only files", a[0].String(),
				b[0].String()), nil
		}
	}
}

func rewriting(info Reply) bool {
	return strings.Contains(info.Str, "aof_rewrite_in_progress:1") ||
		strings.Contains(info.Str, "aof_rewrite_scheduled:1")
}
