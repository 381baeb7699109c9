package engine

import (
	"strings"

	"godwit/internal/spec"
)

// The error texts of the wire that more than one handler sends. Bytes are Redis's.
const (
	ErrWrongType     = "WRONGTYPE Operation against a key holding the wrong kind of value"
	ErrNotHLL        = "WRONGTYPE Key is not a valid HyperLogLog string value."
	ErrCorruptHLL    = "INVALIDOBJ Corrupted HLL object detected"
	ErrSyntax        = "ERR syntax error"
	ErrInternal      = "ERR internal error, the server's log tells more"
	ErrNotInteger    = "ERR value is not an integer or out of range"
	ErrNotFloat      = "ERR value is not a valid float"
	ErrNoSuchKey     = "ERR no such key"
	ErrOutOfRange    = "ERR index out of range"
	ErrDBIndex       = "ERR DB index is out of range"
	ErrSameObject    = "ERR source and destination objects are the same"
	ErrOverflow      = "ERR increment or decrement would overflow"
	ErrNaNInfinity   = "ERR increment would produce NaN or Infinity"
	ErrBitOffset     = "ERR bit offset is not an integer or out of range"
	ErrBitValue      = "ERR bit is not an integer or out of range"
	ErrStringTooLong = "ERR string exceeds maximum allowed size (proto-max-bulk-len)"
	ErrOffsetRange   = "ERR offset is out of range"
	ErrInvalidCursor = "ERR invalid cursor"
	ErrNoAuth        = "NOAUTH Authentication required."
	ErrWrongPass     = "WRONGPASS invalid username-password pair or user is disabled."
	ErrNoProto       = "NOPROTO unsupported protocol version"
	ErrNoMemory      = "OOM command not allowed: the system has no memory left for it."
	ErrOOM           = "OOM command not allowed when used memory > 'maxmemory'."
	ErrMonitorKeys   = "ERR Replica can't interact with the keyspace"
	ErrNegativeCount = "ERR value is out of range, must be positive"
	ErrUnblocked     = "UNBLOCKED client unblocked via CLIENT UNBLOCK"
	ErrBusyKey       = "BUSYKEY Target key name already exists."
	ErrLoading       = "LOADING Redis is loading the dataset in memory"
	ErrReadOnly      = "READONLY You can't write against a read only replica."
	ErrMasterDown    = "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set " +
		"to 'no'."
	// ErrRoleChanged answers clients that wait when the server becomes a replica.
	ErrRoleChanged = "UNBLOCKED force unblock from blocking operation, instance state changed " +
		"(master -> replica?)"
	ErrNoReplicas = "NOREPLICAS Not enough good replicas to write."
	ErrMisconfRDB = "MISCONF Redis is configured to save RDB snapshots, but it's currently " +
		"unable to persist to disk. Commands that may modify the data set are disabled, because " +
		"this instance is configured to report errors during writes if RDB snapshotting " +
		"fails (stop-writes-on-bgsave-error option). Please check the Redis logs for " +
		"details about the RDB error."
	// ErrMisconfAOF is followed by the system's words.
	ErrMisconfAOF = "MISCONF Errors writing to the AOF file: "
	// ErrSubscribed follows the command's name.
	ErrSubscribed = "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are " +
		"allowed in this context"
	ErrDebugNotAllowed = `ERR DEBUG command not allowed. If the enable-debug-command option is ` +
		`set to "local", you can run it from a local connection, otherwise you need to set this ` +
		`option in the configuration file, and then restart the server.`

	ErrModuleNotAllowed = `ERR MODULE command not allowed. If the enable-module-command option ` +
		`is set to "local", you can run it from a local connection, otherwise you need to set ` +
		`this option in the configuration file, and then restart the server.`

	ErrClusterDown     = "CLUSTERDOWN The cluster is down"
	ErrClusterDisabled = "ERR This instance has cluster support disabled"

	ErrExecAbort = "EXECABORT Transaction discarded because of previous errors."
	// errExecRefused begins the error of an EXEC that is refused itself.
	errExecRefused = "EXECABORT Transaction discarded because of: "
	ErrNotInMulti  = "ERR Command not allowed inside a transaction"
)

// wrongArity returns the error for too few or too many arguments.
func wrongArity(cmd *spec.Command) string {
	return "ERR wrong number of arguments for '" + cmd.FullName() + "' command"
}

// unknown returns the error for arguments that name no command.
func (e *Engine) unknown(argv [][]byte) string {
	if e.table.Top(argv[0]) == nil {
		return unknownCommand(argv)
	}
	return unknownSubcommand(argv)
}

// unknownCommand returns the error for an argv[0] that is no command. It shows the beginning of the
// arguments.
func unknownCommand(argv [][]byte) string {
	var b strings.Builder
	b.WriteString("ERR unknown command '")
	b.WriteString(head(argv[0], 128))
	b.WriteString("', with args beginning with: ")
	used := 0
	for _, a := range argv[1:] {
		if used >= 128 {
			break
		}
		s := "'" + head(a, 128-used) + "' "
		used += len(s)
		b.WriteString(s)
	}
	return b.String()
}

// unknownSubcommand returns the error for an unknown subcommand of a container. It names the
// container as the client did: rename-command may have given it another name.
func unknownSubcommand(argv [][]byte) string {
	return "ERR unknown subcommand '" + head(argv[1], 128) + "'. Try " + upper(string(argv[0])) +
		" HELP."
}

// head returns at most n bytes of b, up to the first NUL, because these texts are C strings in
// Redis.
func head(b []byte, n int) string {
	s, _, _ := strings.Cut(string(b[:min(len(b), n)]), "\x00")
	return s
}

// upper returns s with its ASCII letters in upper case.
func upper(s string) string {
	b := []byte(s)
	for i, ch := range b {
		if 'a' <= ch && ch <= 'z' {
			b[i] = ch - 32
		}
	}
	return string(b)
}
