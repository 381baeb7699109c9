package script

// Caller is the server as scripts see it. All methods are called by the goroutine that runs the script.
type Caller interface {
	// Call runs one command for the running script. The reply, borrowed until the next call, is in that RESP version. refused is why the
	// command did not run: an error text with its code, without '-'; the reply is empty then.
	Call(argv [][]byte, proto int) (reply []byte, refused string)
	// Allowed is ACL's verdict on a command: whether the script's user may run it. known is false for no command at all.
	Allowed(argv [][]byte) (ok, known bool)
	// SetRepl says where the writes to come go: ReplAOF, ReplReplica, both or nowhere.
	SetRepl(flags int)
	// Log writes a line with one of the LOG_ levels.
	Log(level int, msg string)
	// Interrupt is called about every millisecond while a script runs: others are served there once the script has run for too long. An
	// error ends the script.
	Interrupt() error
}

// Where a script's writes go.
const (
	ReplNone    = 0
	ReplAOF     = 1
	ReplReplica = 2
	ReplAll     = ReplAOF | ReplReplica
)

// Log levels, as scripts name them.
const (
	LogDebug = iota
	LogVerbose
	LogNotice
	LogWarning
)
