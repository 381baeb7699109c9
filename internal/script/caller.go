package script

// Caller is the server as scripts see it. Its methods run on the goroutine that runs the script.
type Caller interface {
	// Call runs one command for the running script. The reply is in the given version of RESP and
	// valid until the next call. If the command did not run, refused says why and the reply is
	// empty: refused is an error text with its code, without '-'. If both are empty, the reply is
	// too large for a script to hold.
	Call(argv [][]byte, proto int) (reply []byte, refused string)
	// Allowed reports whether the ACL lets the script's user run a command. known is false if there
	// is no such command.
	Allowed(argv [][]byte) (ok, known bool)
	// SetRepl sets where later writes go: ReplAOF, ReplReplica, both or neither.
	SetRepl(flags int)
	// Log writes a line at one of the LOG_ levels.
	Log(level int, msg string)
	// Failed notes an error in a script's reply. counted says that a command has counted it
	// already. The text may share the script's memory.
	Failed(msg string, counted bool)
	// Interrupt is called about every millisecond while a script runs. Once the script has run too
	// long, it serves other clients. An error ends the script.
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
