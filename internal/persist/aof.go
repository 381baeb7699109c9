package persist

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"godwit/internal/logging"
	"godwit/internal/propagation"
	"godwit/internal/vfs"
)

// AOF is the append-only log: every command that changed the data set, as RESP text, in the
// multi-part layout of Redis 7.
//
//	appendonlydir/appendonly.aof.3.base.rdb     the data set at the last rewrite
//	appendonlydir/appendonly.aof.3.incr.aof     what was written since
//	appendonlydir/appendonly.aof.4.incr.aof     … and since a rewrite began that is not done yet
//	appendonlydir/appendonly.aof.manifest       which files count, in which order
//
// # Writing
//
// It is a target of propagation: whole units are appended to its buffer. EndBatch, before the
// replies of the batch are sent, writes the buffer with one write, and syncs it with one fdatasync
// under appendfsync always. Under everysec a worker goroutine syncs; while it does, writes to the
// same file would stall behind it in the kernel, so the buffer waits, two seconds at most (Redis's
// rule).
//
// # Rewriting
//
//	Rewrite            the buffer is written out; from here on everything goes to the next
//	                   incremental file; the snapshot of this moment begins (Base.Start)
//	  worker: seal     sync the old file, create the new one, put the manifest in place that
//	                   names it
//	  sealed           the buffer goes to the new file
//	BaseDone           the base is complete under a temporary name
//	  worker: install  rename the base, put the manifest in place that has the base and only the
//	                   incremental files from this rewrite on
//	  installed        the old files, now history, are deleted by a goroutine of its own, then
//	                   leave the manifest
//
// While the worker seals, what is propagated stays in the buffer: not one byte reaches a file
// before everything in front of it is on disk, so that whatever a power failure leaves is a prefix
// of the history. (Redis lets the new file grow at once.) Under always the batch waits for the
// seal.
//
// Which byte belongs to which file at which stage: aof_seal.go. Who owns the folder: aof_folder.go.
//
// # Ownership
//
// All methods are the executor's, except where noted. The worker touches the file system and its
// job, nothing else of the AOF.
type AOF struct {
	o    AOFOptions
	set  AOFSettings
	root string // the server's folder as of locate
	dir  string // of the files

	lock  io.Closer // nil: there are no locks
	owned bool      // the folder is this process's

	state   aofState
	loading bool
	man     *manifest // as it is on disk
	file    vfs.File  // the last incremental file, opened for appending; nil when off
	name    string    // its name

	out       propagation.Buffer // not yet written, the end of it
	full      [][]byte           // what comes before it, when the disk is slow
	fullBytes int                // in full
	spare     [][]byte           // empty pieces

	stamped int64 // second of the last timestamp annotation

	place  ReplPoint // the last annotation of the current file
	placed int64     // Offset when the place was last looked at
	loaded ReplPoint // see LoadedPlace

	written int64        // bytes ever written
	asked   int64        // value of written that a sync was last asked for
	synced  atomic.Int64 // value of written that is on disk

	fileSize  int64 // bytes of the current file that hold whole units
	otherSize int64 // of the base and the incremental files before it
	baseSize  int64 // of everything when the last rewrite ended

	postponed int64         // steady ms since when the write waits for a sync, 0: it does not
	lastSync  int64         // steady ms when a sync was last asked for
	delayed   int64         // aof_delayed_fsync
	cost      time.Duration // of the sync in the last EndBatch, 0: none
	sleep     time.Duration // before each write, for tests
	spent     time.Duration // in writes and syncs since the last TakeSpent
	writeErr  error         // why the last write failed, nil if it did not
	loggedErr int64         // steady ms of the last line about that
	triedAt   int64         // steady ms of the last retry

	// lost is one of lostNothing …: after a sync has failed the file may lack what the kernel could
	// not write.
	lost atomic.Int32
	// dirDoubt is set when the manifest has been renamed, but the folder's sync failed: until one
	// works, no sync of a file counts.
	dirDoubt atomic.Bool

	work   worker
	rw     rewriteState
	insist insistState
	gc     *historyJob
}

// AOFOptions are what an AOF needs of its surroundings; all must be set unless noted.
type AOFOptions struct {
	FS       vfs.FS
	Log      *logging.Logger
	Dir      func() string // the full path of the server's folder
	DirName  string        // appenddirname
	FileName string        // appendfilename
	// Now is the executor's steady clock, ms: it never goes back.
	Now func() int64
	// Clock is the time for annotations, unix seconds. Unlike Now it does not stand still while a
	// script runs.
	Clock func() int64
	// Place returns where in the history of replication the data set is, if the log is to say that.
	// end says that nothing will follow. May be nil.
	Place func(end bool) (p ReplPoint, ok bool)
	// Base makes bases; nil: only at the start, for an empty data set.
	Base BaseMaker
	// Wake is called from other goroutines when there is something to do for EndBatch or Cron
	// although nothing may happen on the executor: a sync ended. May be nil.
	Wake func()
	// Latency is told of the ms that a write or sync took on the executor, by latency event name.
	// May be nil.
	Latency func(event string, ms int64)
	// Exit ends the process; nil: os.Exit.
	Exit func(code int)
}

// BaseMaker makes the base of a rewrite: a file with the data set as of now. A Store implements it
// with its one job.
type BaseMaker interface {
	// Busy reports whether another snapshot is running, so that none can start.
	Busy() bool
	// Start begins to write the data set as of this moment to the file path, as an RDB file or as
	// commands. Once the file is complete and synced, or the attempt has failed, done is called on
	// the executor, never from within Start or Cancel.
	Start(path string, rdb bool, done func(error)) error
	// Cancel ends the running attempt; done is not called for it.
	Cancel()
	// Over is told of the end of a rewrite whose base was complete: the path of the base, "" if the
	// rewrite has failed.
	Over(path string)
	// Empty is the content of a base without a key.
	Empty(rdb bool) []byte
}

// FsyncPolicy is appendfsync.
type FsyncPolicy uint8

// The policies, in the order of the directive's values.
const (
	FsyncEverySec FsyncPolicy = iota
	FsyncAlways
	FsyncNo
)

// AOFSettings are the directives that may change while the server runs.
type AOFSettings struct {
	Fsync             FsyncPolicy
	NoFsyncOnRewrite  bool
	RewritePercentage int64
	RewriteMinSize    int64
	LoadTruncated     bool
	RDBPreamble       bool
	Timestamps        bool
	KeepHistory       bool // aof-disable-auto-gc
}

type aofState uint8

const (
	aofOff aofState = iota
	aofOn
	aofWaitRewrite // turned on, but the base is still being made: nothing is promised yet
)

// Sentinels of the AOF.
var (
	// ErrNoAOF says that there is no log to load: the server starts empty.
	ErrNoAOF = errors.New("there is no append-only file")
	// ErrEnable says that the log could not be turned on; the reason has been logged.
	ErrEnable = errors.New("the append-only file cannot be turned on")
)

// NewAOF makes an AOF that is off. It reads nothing yet.
func NewAOF(o AOFOptions, s AOFSettings) *AOF {
	if o.Exit == nil {
		o.Exit = os.Exit
	}
	if o.Wake == nil {
		o.Wake = func() {}
	}
	if o.Latency == nil {
		o.Latency = func(string, int64) {}
	}
	a := &AOF{o: o, set: s, man: &manifest{}}
	a.out.DB = propagation.NoDB
	a.rw.lastStatus, a.rw.lastSeconds = true, -1
	a.locate()
	return a
}

// Configure applies settings that CONFIG SET changed. Under always everything propagated before is
// on disk when it returns.
func (a *AOF) Configure(s AOFSettings) {
	was := a.set
	a.set = s
	if was.KeepHistory && !s.KeepHistory && a.owned {
		a.deleteHistory()
	}
	if was.Fsync == s.Fsync || a.state == aofOff {
		return
	}
	a.asked = min(a.asked, a.synced.Load()) // appendfsync no asks for nothing
	if s.Fsync == FsyncAlways {
		a.flush(true)
	}
}

// Open begins to log: after loading, when appendonly is yes. If there are no files yet the data set
// is empty, and they begin with an empty base. On an error the server must not start.
func (a *AOF) Open() error {
	fsys := a.o.FS
	if err := a.take(lockPatience); err != nil {
		return err
	}
	a.removeLeftovers()
	m := a.man.clone()
	if m.empty() {
		name := m.addBase(a.o.FileName, a.set.RDBPreamble)
		text := []byte{}
		if a.o.Base != nil {
			text = a.o.Base.Empty(a.set.RDBPreamble)
		}
		if _, err := replaceFile(fsys, a.dir, tempPrefix+name, name, text); err != nil {
			return err
		}
		a.otherSize, a.baseSize = int64(len(text)), int64(len(text))
		a.o.Log.Notice("Creating AOF base file %s on server start", name)
	}
	verb, changed := "Opening", false // an unchanged manifest needs no room on the disk
	if len(m.incr) == 0 {
		if err := m.extensible(); err != nil {
			return err
		}
		m.addIncr(a.o.FileName)
		verb, changed = "Creating", true
	}
	name := m.incr[len(m.incr)-1].name
	var f vfs.File
	var err error
	if changed {
		f, err = a.create(name)
	} else {
		f, err = fsys.Open(a.path(name), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	}
	if err != nil {
		return fmt.Errorf("can't open the append-only file %s: %s",
			a.path(name), logging.OSError(err))
	}
	if err = fsys.SyncDir(a.dir); err == nil && changed {
		_, err = m.write(fsys, a.dir, a.o.FileName)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	info, err := fsys.Stat(a.path(name))
	if err != nil {
		return errors.Join(err, f.Close())
	}
	a.fileSize = info.Size()
	a.o.Log.Notice("%s AOF incr file %s on server start", verb, name)
	a.begin(f, name, m)
	a.state = aofOn
	a.deleteHistory()
	return nil
}

// begin makes f the file that is written to.
func (a *AOF) begin(f vfs.File, name string, m *manifest) {
	a.file, a.name, a.man = f, name, m
	a.out.DB, a.stamped, a.place = propagation.NoDB, 0, ReplPoint{}
	a.lastSync = a.o.Now()
	a.work.start(a)
}

// Enabled reports whether appendonly is on, also while the first rewrite is still running.
func (a *AOF) Enabled() bool { return a.state != aofOff }

// Offset returns the position in the stream of propagated commands, in bytes. WAITAOF after a write
// waits for it.
func (a *AOF) Offset() int64 { return a.written + int64(a.buffered()) }

// Synced returns the offset up to which the stream is on disk, -1 before the first rewrite has
// ended: none of it counts then. Under appendfsync no it is what a sync for another reason reached.
func (a *AOF) Synced() int64 {
	if a.state != aofOn {
		return -1
	}
	return a.synced.Load()
}

// CommitCost returns how long the last EndBatch waited for a sync, 0 if it waited for none.
func (a *AOF) CommitCost() time.Duration { return a.cost }

// SleepBeforeFlush makes each write wait, for tests.
func (a *AOF) SleepBeforeFlush(d time.Duration) { a.sleep = d }

// TakeSpent returns how long the executor has waited for writes and syncs since the last call.
func (a *AOF) TakeSpent() time.Duration {
	d := a.spent
	a.spent = 0
	return d
}

// WriteError returns why writes cannot be logged at the moment, "" when they can. Commands that
// write are refused with MISCONF meanwhile.
func (a *AOF) WriteError() string {
	if a.insist.wanted {
		return ErrEnable.Error()
	}
	if a.state == aofOff {
		return ""
	}
	if a.writeErr != nil {
		return logging.OSError(a.writeErr)
	}
	if err := a.work.syncError(); err != nil {
		return logging.OSError(err)
	}
	return ""
}

// size returns the size of all files that count.
func (a *AOF) size() int64 { return a.otherSize + a.fileSize }

// Close writes and syncs what is buffered and closes the file: the end of the server. The error
// says that not everything is on disk.
func (a *AOF) Close() error {
	a.cancelRewrite()
	err := a.finishFile()
	a.gc = nil // the next start finds in the manifest what is still to be deleted
	a.release()
	return err
}

// finishFile ends logging to the current file.
func (a *AOF) finishFile() error {
	a.settle()
	a.notePlace(true)
	a.flush(true)
	err := a.writeErr
	if err == nil && a.file != nil {
		if err = a.fsync(a.file); err == nil {
			a.raiseSynced(a.written)
		}
	}
	a.work.stop()
	if a.file != nil {
		err = errors.Join(err, a.file.Close())
		a.file = nil
	}
	a.state = aofOff
	a.forgetBuffer()
	a.writeErr = nil
	return err
}

// Sync writes and syncs everything propagated so far, before it returns: for SHUTDOWN and DEBUG
// LOADAOF.
func (a *AOF) Sync() error {
	a.settle()
	if a.state == aofOff || a.file == nil {
		return nil
	}
	a.flush(true)
	if a.writeErr != nil {
		return a.writeErr
	}
	err := a.fsync(a.file)
	a.noteSync(a.written, err)
	if err == nil {
		a.asked = a.written
	}
	return err
}
