package server

import (
	"runtime/debug"

	"godwit/internal/crash"
	"godwit/internal/engine"
	"godwit/internal/resp"
)

// maxAhead is how many commands of a pipeline are parsed before the first of them runs: enough to
// overlap their cache misses, few enough that what was fetched for the last is still cached when it
// runs.
const maxAhead = engine.PrefetchMax

// keptArgs bounds the argument list that is kept for later commands.
const keptArgs = 4096

// ahead holds commands of one client that are parsed but have not run, so that the memory of all
// their lookups can be fetched into the cache at once. It belongs to the executor. One is enough,
// because no client's commands stay in it.
type ahead struct {
	n       int
	partial bool     // the parser is within an incomplete command
	args    [][]byte // of all commands, one after the other
	ends    [maxAhead]int
	used    [maxAhead]int      // bytes of each command
	argvs   [maxAhead][][]byte // of prefetch
}

// fill parses the commands at the start of buf. A protocol error concerns the input after them.
func (a *ahead) fill(s *session, buf []byte) error {
	lim := &s.srv.limits
	lim.Authenticated = !s.srv.eng.Stranger(s.cl)
	if s.cl.Origin.Feeds() {
		defer func(most int64) { lim.MaxBulk = most }(lim.MaxBulk)
		lim.MaxBulk = s.srv.eng.MasterInputLimit()
	}
	if clear(a.args); cap(a.args) > keptArgs {
		a.args = nil
	}
	a.n, a.partial, a.args = 0, false, a.args[:0]
	s.srv.eng.EndPrefetch()
	most := maxAhead
	if !lim.Authenticated {
		most = 1 // the limits may change with each command
	}
	err := a.parse(s, buf, most)
	if err == nil && a.n > 1 {
		a.prefetch(s)
	}
	return err
}

// parse parses up to most commands. A panic in it has changed nothing, so it becomes a protocol
// error of this client, before any command.
func (a *ahead) parse(s *session, buf []byte, most int) (err error) {
	defer func() {
		if v := recover(); v != nil {
			crash.Contained("parsing a request", v, debug.Stack())
			a.n, a.partial, a.args = 0, true, a.args[:0]
			err = resp.ErrInternal
		}
	}()
	lim := &s.srv.limits
	for a.n < most && len(buf) > 0 {
		if args, used := s.parser.AppendWhole(a.args, buf, lim); used > 0 {
			a.args = args
			a.ends[a.n], a.used[a.n] = len(a.args), used
			a.n++
			buf = buf[used:]
			continue
		}
		argv, used, err := s.parser.Next(buf, lim)
		if err != nil {
			return err
		}
		if used == 0 {
			a.partial = true
			break
		}
		a.args = append(a.args, argv...)
		a.ends[a.n], a.used[a.n] = len(a.args), used
		a.n++
		if buf[0] != '*' {
			break // the parser keeps an inline command's arguments until the next one is read
		}
		buf = buf[used:]
	}
	return nil
}

// command returns the i-th command and the number of bytes it came in.
func (a *ahead) command(i int) (argv [][]byte, used int) {
	from := 0
	if i > 0 {
		from = a.ends[i-1]
	}
	return a.args[from:a.ends[i]:a.ends[i]], a.used[i]
}

// prefetch brings what the commands will read into the cache, for all of them at once.
func (a *ahead) prefetch(s *session) {
	for i := range a.n {
		a.argvs[i], _ = a.command(i)
	}
	s.srv.eng.Prefetch(s.cl, a.argvs[:a.n])
	clear(a.argvs[:a.n])
}
