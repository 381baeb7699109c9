package command

import (
	"bytes"
	"fmt"
	"strconv"

	"godwit/internal/engine"
	"godwit/internal/object"
)

var _ = family(replconfHandlers)

func replconfHandlers() engine.Handlers {
	return engine.Handlers{"replconf": replconfCmd}
}

// replconfCmd takes what a replica says of itself before it asks for the stream, and what it
// acknowledges later. That is not replied to.
func replconfCmd(c *engine.Ctx) {
	if len(c.Args)%2 == 0 {
		c.Err(engine.ErrSyntax)
		return
	}
	for args := c.Args[1:]; len(args) > 0; args = args[2:] {
		switch {
		case is(args[0], "ack"):
			ackCmd(c, args)
			return
		case is(args[0], "cluster-peer"):
			clusterPeer(c, args[1])
			return
		case is(args[0], "getack"): // a master asks its replica
			if c.Client.Origin == engine.OriginMaster {
				c.E.AckMaster()
			}
			return
		case !replicaOption(c, c.E.ReplicaOf(c.Client), args[0], args[1]):
			return
		}
	}
	c.OK()
}

// ackCmd carries out REPLCONF ACK offset [FACK offset], which counts from replicas only.
func ackCmd(c *engine.Ctx, args [][]byte) {
	offset, ok := object.ParseInt(args[1])
	if !ok || c.Client.Class != engine.ClassReplica {
		return
	}
	synced := int64(-1)
	if len(args) > 3 && is(args[2], "fack") {
		if n, ok := object.ParseInt(args[3]); ok {
			synced = n
		}
	}
	c.E.Acknowledge(c.E.ReplicaOf(c.Client), offset, synced)
}

// replicaOption takes one option. It reports false when the command has failed.
func replicaOption(c *engine.Ctx, r *engine.Replica, name, value []byte) bool {
	flag := func(to *bool) bool {
		n, ok := intArg(c, value)
		if ok && (n < 0 || n > 1) {
			c.Err("ERR value is out of range, value must between 0 and 1")
			return false
		}
		*to = n == 1
		return ok
	}
	var channel bool
	switch {
	case is(name, "listening-port"):
		port, ok := intArg(c, value)
		r.Port = port
		return ok
	case is(name, "ip-address"):
		return replicaAddress(c, r, value)
	case is(name, "capa"):
		replicaCapability(r, value)
	case is(name, "version"):
		return replicaVersion(c, r, value)
	case is(name, "rdb-only"):
		return flag(&r.RDBOnly)
	case is(name, "rdb-no-compress"):
		return flag(&r.NoCompress)
	case is(name, "rdb-no-checksum"):
		return flag(&r.NoChecksum)
	case is(name, "rdb-filter-only"):
		return replicaFilter(c, r, value)
	case is(name, "rdb-channel"): // the main channel's ID says it too
		return flag(&channel)
	case is(name, "main-ch-client-id"):
		id, ok := intArg(c, value)
		if ok && !c.E.PairChannel(r, uint64(id)) {
			c.Err(fmt.Sprintf("ERR Unrecognized RDB client id: %d", id))
			return false
		}
		return ok
	default:
		c.Err("ERR Unrecognized REPLCONF option: " + string(name))
		return false
	}
	return true
}

func replicaAddress(c *engine.Ctx, r *engine.Replica, ip []byte) bool {
	if len(ip) >= 256 {
		c.Err(fmt.Sprintf(
			"ERR REPLCONF ip-address provided by replica instance is too long: %d bytes", len(ip)))
		return false
	}
	r.IP = string(ip)
	return true
}

// replicaCapability ignores what it does not know, as masters do.
func replicaCapability(r *engine.Replica, name []byte) {
	switch {
	case is(name, "eof"):
		r.CapEOF = true
	case is(name, "psync2"):
		r.CapPsync2 = true
	case is(name, "rdb-channel-repl"):
		r.CapRDBChannel = true
	case is(name, "godwit"):
		r.CapGodwit = true
	}
}

// replicaVersion takes Valkey's version, three numbers with dots.
func replicaVersion(c *engine.Ctx, r *engine.Replica, text []byte) bool {
	version := 0
	parts := bytes.Split(text, []byte("."))
	for _, p := range parts {
		n, err := strconv.ParseUint(string(p), 10, 8)
		if err != nil || len(parts) != 3 {
			c.Err("ERR Unrecognized version format: " + string(text))
			return false
		}
		version = version<<8 | int(n)
	}
	r.Version = version
	return true
}

// replicaFilter takes the parts of a snapshot that a replica wants, of which there is one.
func replicaFilter(c *engine.Ctx, r *engine.Replica, list []byte) bool {
	r.FunctionsOnly = false
	for _, part := range bytes.Fields(list) {
		if !is(part, "functions") {
			c.Err("ERR Unsupported rdb-filter-only option: " + string(part))
			return false
		}
		r.FunctionsOnly = true
	}
	return true
}

// clusterPeer takes what a node of the cluster says of itself, and answers with the term of the
// shard that this one knows, and the offset at which it began.
func clusterPeer(c *engine.Ctx, text []byte) {
	p, ok := engine.ParsePeer(string(text))
	if !ok {
		c.Err("ERR Invalid REPLCONF cluster-peer")
		return
	}
	term, begin, refusal := c.E.PeerSays(c.E.ReplicaOf(c.Client), p)
	if refusal != "" {
		c.Err(refusal)
		return
	}
	c.Simple(fmt.Sprint("TERM ", term, " ", begin))
}
