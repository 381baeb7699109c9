//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"godwit/internal/testserver"
)

// clockTick is USER_HZ: the unit of the times in /proc/PID/stat, 100 on every Linux port of Go.
const clockTick = 10 * time.Millisecond

// cpuTime returns the CPU time that the process has used, and what of it outside the kernel.
func cpuTime(pid int) (all, user time.Duration, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, err
	}
	all, user, err = parseStat(string(text))
	if err != nil {
		return 0, 0, err
	}
	if precise, err := cpuNanos(pid); precise > 0 || err != nil {
		return precise, user, err
	}
	return all, user, nil
}

// cpuNanos returns the CPU time summed over the threads in nanoseconds, or 0 where the kernel does
// not keep schedstat. (A thread that has ended is missing in the sum; no server ends threads under
// load.)
func cpuNanos(pid int) (sum time.Duration, err error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return 0, err
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH) {
			continue // the thread ended since the listing
		}
		if err != nil {
			return 0, err
		}
		ns, err := parseSchedstat(string(text))
		if err != nil {
			return 0, fmt.Errorf("%s: %w", f, err)
		}
		sum += ns
	}
	return sum, nil
}

// parseSchedstat reads the first field of a schedstat line: nanoseconds on a CPU.
func parseSchedstat(text string) (time.Duration, error) {
	fields := strings.Fields(text)
	if len(fields) != 3 {
		return 0, fmt.Errorf("unexpected schedstat %q", text)
	}
	ns, err := strconv.ParseInt(fields[0], 10, 64)
	return time.Duration(ns), err
}

// parseStat reads utime+stime and utime alone, fields 14 and 15 of /proc/PID/stat. Field 2, the
// name in parentheses, may hold spaces.
func parseStat(text string) (all, user time.Duration, err error) {
	end := strings.LastIndexByte(text, ')')
	fields := strings.Fields(text[end+1:])
	if end < 0 || len(fields) < 13 {
		return 0, 0, fmt.Errorf("unexpected stat %q", text)
	}
	utime, err1 := strconv.ParseInt(fields[11], 10, 64)
	stime, err2 := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(utime+stime) * clockTick, time.Duration(utime) * clockTick,
		errors.Join(err1, err2)
}

// settledRSS waits until resident memory stands still over three readings, at most fifty, and
// returns it.
func settledRSS(ctx context.Context, pid int, pause time.Duration) (int64, error) {
	last, err := testserver.RSS(pid)
	still := 0
	for i := 0; i < 50 && still < 3 && err == nil; i++ {
		if err := sleep(ctx, pause); err != nil {
			return 0, err
		}
		var now int64
		now, err = testserver.RSS(pid)
		if diff := now - last; diff < 1<<17 && diff > -1<<17 {
			still++
		} else {
			still = 0
		}
		last = now
	}
	return last, err
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// otherWork measures the share of the machine's CPU time that processes other than this one and its
// children take.
type otherWork struct {
	start      time.Time
	busy, ours time.Duration
}

func startOtherWork() (otherWork, error) {
	busy, err := machineBusy()
	return otherWork{start: time.Now(), busy: busy, ours: ownCPU()}, err
}

// share returns the part of all CPU time since the start, 0 to 1. All children must have been
// reaped: only then does the kernel add a child's time to its parent.
func (o otherWork) share() (float64, error) {
	busy, err := machineBusy()
	others := (busy - o.busy) - (ownCPU() - o.ours)
	return max(0, others.Seconds()/time.Since(o.start).Seconds()/float64(runtime.NumCPU())), err
}

// machineBusy returns the time since boot that all CPUs together were not idle.
func machineBusy() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	return parseMachineBusy(string(text))
}

// parseMachineBusy sums user, nice, system, irq, softirq and steal of the first line of /proc/stat.
// The other columns are idle, iowait (which is idle too), and guest times that user already
// includes.
func parseMachineBusy(text string) (time.Duration, error) {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, fmt.Errorf("unexpected /proc/stat %q", line)
	}
	var sum int64
	for _, i := range []int{1, 2, 3, 6, 7, 8} {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return time.Duration(sum) * clockTick, nil
}

func ownCPU() time.Duration {
	var sum int64
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if unix.Getrusage(who, &u) == nil {
			sum += u.Utime.Nano() + u.Stime.Nano()
		}
	}
	return time.Duration(sum)
}

var (
	cpuModel    = regexp.MustCompile(`(?m)^model name\s*:\s*(.+)$`)
	versionWord = regexp.MustCompile(`v=(\S+)`)
)

// describeMachine returns the line of the report that says where and with what the figures were
// taken.
func describeMachine(ctx context.Context, c contest) string {
	model := runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if m := cpuModel.FindSubmatch(text); m != nil {
			model = string(m[1])
		}
	}
	kernel := "Linux"
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		kernel += " " + unix.ByteSliceToString(u.Release[:])
	}
	words := []string{fmt.Sprintf("%d × %s", runtime.NumCPU(), model), kernel, runtime.Version()}
	for _, one := range c {
		words = append(words, one.title+" = "+serverVersion(ctx, one.path))
	}
	return strings.Join(append(words, time.Now().UTC().Format("2006-01-02")), ", ")
}

func serverVersion(ctx context.Context, path string) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if m := versionWord.FindSubmatch(out); err == nil && m != nil {
		return string(m[1])
	}
	return "(unknown version)"
}
