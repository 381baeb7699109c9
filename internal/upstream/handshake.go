package upstream

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"godwit/internal/logging"
	"godwit/internal/propagation"
)

// Hello is what a replica says of itself and asks for.
type Hello struct {
	User, Password string // for AUTH; without a password there is none
	Port           int    // that clients of this replica use
	IP             string // the same, "" for the one that the master sees
	Version        string // of Valkey whose files are understood, "" for none
	// ID and Offset name the place of the history where this replica is; ID is "" if it has
	// nothing.
	ID     string
	Offset int64
	// Channel offers to take the RDB file over a second connection.
	Channel bool
	// Failover asks the master to hand its role over to this replica.
	Failover bool
	// Peer is what this replica is in the master's cluster, as REPLCONF cluster-peer takes it; "":
	// it is in none. A master that is not of the same shard is refused then.
	Peer string
}

// Kind is what a master answers to PSYNC.
type Kind uint8

// The kinds.
const (
	Continue Kind = iota // the stream follows
	Full                 // an RDB file follows, then the stream
	Old                  // likewise, from a master that knows no offsets
	Channel              // the stream follows, the RDB file comes over a second connection
)

// Answer is a master's answer to PSYNC.
type Answer struct {
	Kind   Kind
	ID     string // of the history; "" after Continue if it is the one that was asked for
	Client string // after Channel: the number of this connection at the master
	Offset int64  // of the RDB file
	// Term is that of the shard, as the master knows it, and Begin the offset of the stream at
	// which it began, if Hello has Peer.
	Term  uint64
	Begin int64
}

// ErrLater reports a master that cannot synchronize now, but will.
var ErrLater = errors.New("the master is not ready")

// ErrPeer reports a master that knows another state of the cluster than this node. One of them will
// catch up in a moment.
var ErrPeer = errors.New("the two nodes know different states of the cluster")

// ErrFailover reports a replica that does not take over (Hello.Failover).
var ErrFailover = errors.New("Failover target rejected psync request")

// Handshake talks with the master until the stream or the RDB file follows. An error is a line for
// the log.
func (c *Conn) Handshake(h Hello, log *logging.Logger) (Answer, error) {
	if err := c.send([]string{"PING"}); err != nil {
		return Answer{}, fmt.Errorf("Error condition on socket for SYNC: %w", err)
	}
	line, err := c.line()
	if err != nil {
		return Answer{}, fmt.Errorf("Error reply to PING from master: '%w'", err)
	}
	if line[0] != '+' && !hasPrefix(line, "-NOAUTH", "-NOPERM", "-ERR operation not permitted") {
		return Answer{}, fmt.Errorf("Error reply to PING from master: '%s'", show(line))
	}
	log.Notice("Master replied to PING, replication can continue...")
	if err := c.introduce(h, log); err != nil {
		return Answer{}, err
	}
	var term uint64
	var begin int64
	if h.Peer != "" {
		if term, begin, err = c.meetPeer(h.Peer); err != nil {
			return Answer{}, err
		}
	}
	a, err := c.psync(h, log)
	a.Term, a.Begin = term, begin
	return a, err
}

// meetPeer tells the master which node of its cluster this is. It returns the term of the shard
// that the master knows and where that began, or why there can be no stream, such as ErrPeer.
func (c *Conn) meetPeer(peer string) (term uint64, begin int64, err error) {
	if err := c.send([]string{"REPLCONF", "cluster-peer", peer}); err != nil {
		return 0, 0, fmt.Errorf("Sending command to master in replication handshake: %w", err)
	}
	line, err := c.line()
	if err != nil {
		return 0, 0, fmt.Errorf("Reading from master in replication handshake: %w", err)
	}
	if n, _ := fmt.Sscanf(line, "+TERM %d %d", &term, &begin); n == 2 {
		return term, begin, nil
	}
	switch {
	case hasPrefix(line, "-TRYAGAIN"):
		return 0, 0, fmt.Errorf("The master of the shard refuses this node: %s (%w)", show(line),
			ErrPeer)
	case line[0] == '-':
		return 0, 0, fmt.Errorf("The server at the address of the shard's master is not of this "+
			"cluster: %s", show(line))
	}
	return 0, 0, fmt.Errorf("Unexpected reply to REPLCONF cluster-peer from master: %s", show(line))
}

func hasPrefix(line string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return false
}

// auth returns the command AUTH, nil if there is no password.
func (h *Hello) auth() []string {
	switch {
	case h.Password == "":
		return nil
	case h.User == "":
		return []string{"AUTH", h.Password}
	}
	return []string{"AUTH", h.User, h.Password}
}

// introduce sends AUTH and REPLCONF. Only a refused password is an error: a master may be older
// than what it is told.
func (c *Conn) introduce(h Hello, log *logging.Logger) error {
	var commands [][]string
	say := func(argv ...string) { commands = append(commands, argv) }
	if auth := h.auth(); auth != nil {
		say(auth...)
	}
	say("REPLCONF", "listening-port", strconv.Itoa(h.Port))
	if h.IP != "" {
		say("REPLCONF", "ip-address", h.IP)
	}
	if h.Channel {
		say("REPLCONF", "capa", "eof", "capa", "psync2", "capa", "godwit",
			"capa", "rdb-channel-repl")
	} else {
		say("REPLCONF", "capa", "eof", "capa", "psync2", "capa", "godwit")
	}
	if h.Version != "" {
		say("REPLCONF", "version", h.Version)
	}
	if err := c.send(commands...); err != nil {
		return fmt.Errorf("Sending command to master in replication handshake: %w", err)
	}
	for _, argv := range commands {
		line, err := c.line()
		switch {
		case err != nil:
			return fmt.Errorf("Reading from master in replication handshake: %w", err)
		case line[0] != '-':
		case argv[0] == "AUTH":
			return fmt.Errorf("Unable to AUTH to MASTER: %s", show(line))
		case argv[1] == "version": // Redis does not know it
		default:
			log.Notice("(Non critical) Master does not understand REPLCONF %s: %s", argv[1],
				show(line))
		}
	}
	return nil
}

// psync asks for the stream from where this replica is.
func (c *Conn) psync(h Hello, log *logging.Logger) (Answer, error) {
	argv := []string{"PSYNC", "?", "-1"}
	if h.ID != "" {
		argv[1], argv[2] = h.ID, strconv.FormatInt(h.Offset+1, 10)
		log.Notice("Trying a partial resynchronization (request %s:%s).", argv[1], argv[2])
	} else {
		log.Notice("Partial resynchronization not possible (no cached master)")
	}
	if h.Failover {
		argv = append(argv, "FAILOVER")
	}
	if err := c.send(argv); err != nil {
		return Answer{}, fmt.Errorf("Sending PSYNC to master: %w", err)
	}
	line, err := c.line()
	if err != nil {
		return Answer{}, fmt.Errorf("Master did not reply to PSYNC, will try later: %w", err)
	}
	a, err := parsePSYNC(line)
	if a.Kind == Channel && !h.Channel {
		return Answer{}, fmt.Errorf("Unexpected reply to PSYNC from master: %s", show(line))
	}
	if err == nil && a.Kind == Continue && h.ID == "" {
		return Answer{}, fmt.Errorf("Master continues a history that it was not asked for: %s",
			show(line))
	}
	if !errors.Is(err, errNoPSYNC) {
		return a, err
	}
	if h.Failover {
		return Answer{}, fmt.Errorf("%w: %s", ErrFailover, show(line))
	}
	log.Notice("Master does not support PSYNC or is in error state (reply: %s)", show(line))
	log.Notice("Retrying with SYNC...")
	if err := c.send([]string{"SYNC"}); err != nil {
		return Answer{}, fmt.Errorf("I/O error writing to MASTER: %w", err)
	}
	return Answer{Kind: Old}, nil
}

// errNoPSYNC reports an error as the answer to PSYNC.
var errNoPSYNC = errors.New("no PSYNC")

// parsePSYNC reads the answer to PSYNC.
func parsePSYNC(line string) (Answer, error) {
	words := strings.Fields(line)
	switch {
	case len(words) == 0:
	case words[0] == "+FULLRESYNC":
		if len(words) == 3 && isID(words[1]) {
			offset, err := strconv.ParseInt(words[2], 10, 64)
			switch {
			case err != nil || offset < 0:
			case offset > propagation.MaxOffset:
				return Answer{}, fmt.Errorf("Master replied with an offset of +FULLRESYNC that no "+
					"stream reaches: %s", show(line))
			default:
				return Answer{Kind: Full, ID: words[1], Offset: offset}, nil
			}
		}
		return Answer{}, fmt.Errorf("Master replied with wrong +FULLRESYNC syntax: %s", show(line))
	case words[0] == "+RDBCHANNELSYNC":
		if len(words) == 2 && isNumber(words[1]) {
			return Answer{Kind: Channel, Client: words[1]}, nil
		}
		return Answer{}, fmt.Errorf("Master replied with wrong +RDBCHANNELSYNC syntax: %s",
			show(line))
	case words[0] == "+CONTINUE":
		switch {
		case len(words) == 1:
			return Answer{Kind: Continue}, nil
		case isID(words[1]):
			return Answer{Kind: Continue, ID: words[1]}, nil
		}
		return Answer{}, fmt.Errorf("Master replied with wrong +CONTINUE syntax: %s", show(line))
	case hasPrefix(line, "-TRYAGAIN"):
		return Answer{}, fmt.Errorf("The master of the shard refuses this node: %s (%w)",
			show(line), ErrPeer)
	case hasPrefix(line, "-NOMASTERLINK", "-LOADING"):
		return Answer{}, fmt.Errorf("Master is currently unable to PSYNC but should be in the "+
			"future: %s (%w)", show(line), ErrLater)
	case line[0] == '-':
		return Answer{}, errNoPSYNC
	}
	return Answer{}, fmt.Errorf("Unexpected reply to PSYNC from master: %s", show(line))
}

// isNumber reports whether s is a decimal number without a sign.
func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil
}

// idLen is the length of a history's id.
const idLen = 40

// isID reports whether s has the form of a history's id.
func isID(s string) bool {
	if len(s) != idLen {
		return false
	}
	for i := range len(s) {
		if ch := s[i]; (ch < '0' || ch > '9') && (ch < 'a' || ch > 'z') {
			return false
		}
	}
	return true
}
