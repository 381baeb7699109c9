package engine

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"strings"

	"godwit/internal/spec"
)

// CrashFacts describes the server for a crash report: what it was doing, without any value, key or
// name of a user's, and what it is. Any goroutine may call it, without the executor. So it reads
// what may be changing, and looks at no map.
func (e *Engine) CrashFacts() []string {
	lines := []string{
		fmt.Sprintf("Godwit %s, Redis %s, commit %s, pid %d, %s %s/%s, GOMAXPROCS %d",
			Version, e.Cfg.CompatVersion, commit(), os.Getpid(), runtime.Version(), runtime.GOOS,
			runtime.GOARCH, runtime.GOMAXPROCS(0)),
		fmt.Sprintf("uptime %d s, io-threads %d, appendonly %v, save points %d, maxmemory %d, "+
			"loading %v, ended %v",
			e.Uptime()/1000, e.Cfg.IOThreads, e.Cfg.AppendOnly, len(e.Cfg.Save), e.Cfg.Maxmemory,
			e.loading.on, e.ended),
	}
	lines = append(lines, e.crashCommand()...)
	lines = append(lines, fmt.Sprintf("clients %d, blocked %d, commands %d, used memory %d",
		e.clients.n, e.blocking.n, e.Stats.Commands, e.UsedMemory()))
	for i := range e.KS.Databases() {
		if n := e.KS.DB(i).Len(); n > 0 {
			lines = append(lines, fmt.Sprintf("db%d: %d keys", i, n))
		}
	}
	return lines
}

// crashCommand describes the running command, and those within it.
func (e *Engine) crashCommand() []string {
	cl := e.current
	if cl == nil {
		return []string{"no command was running"}
	}
	lines := []string{fmt.Sprintf("client id=%d db=%d resp=%d multi=%v script=%v internal=%v",
		cl.ID, cl.db.ID(), cl.W.Proto, cl.multi != nil, e.script.run != nil,
		cl.Origin != OriginConnection)}
	if cl.wait != nil {
		lines = append(lines, "command, having waited: "+shape(cl.wait.cmd, cl.wait.args))
	}
	lines = append(lines, "command: "+shape(e.ctx.Cmd, e.ctx.Args))
	for _, c := range e.inner[:e.depth] {
		lines = append(lines, "within: "+shape(c.Cmd, c.Args))
	}
	if e.script.run != nil {
		lines = append(lines, "called by the script: "+shape(e.scriptCtx.Cmd, e.scriptCtx.Args))
	}
	return lines
}

// maxShape is how many arguments shape tells the lengths of.
const maxShape = 64

// shape returns a command's name, and the number and lengths of its arguments.
func shape(cmd *spec.Command, args [][]byte) string {
	if cmd == nil {
		return fmt.Sprintf("unknown, %d arguments", max(len(args)-1, 0))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d arguments", cmd.FullName(), max(len(args)-1, 0))
	for i, a := range args[min(1, len(args)):] {
		if i == maxShape {
			b.WriteString(" …")
			break
		}
		fmt.Fprintf(&b, " <%d bytes>", len(a))
	}
	return b.String()
}

// commit returns the commit that the binary was built from.
func commit() string {
	b := ReadBuild()
	sha := cmp.Or(b.Commit, "unknown")
	if b.Dirty != 0 {
		sha += " (modified)"
	}
	return sha
}
