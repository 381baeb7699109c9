package engine

import (
	"bytes"
	"strconv"
	"strings"

	"godwit/internal/pubsub"
)

// ClientFlagLetters lists all letters that CLIENT LIST may show in flags.
const ClientFlagLetters = "OSMPxbtRBdcuAUreTIN"

// FlagLetters returns the letters of the client's flags, "N" if there are none.
func (cl *Client) FlagLetters() string {
	var b []byte
	track := cl.Tracking()
	for _, f := range []struct {
		letter byte
		on     bool
	}{
		{'O', cl.Monitor}, {'S', cl.Class == ClassReplica},
		{'M', cl.Origin == OriginMaster}, {'P', cl.Class == ClassPubSub},
		{'x', cl.InMulti()},
		{'b', cl.Postponed() || cl.Waits()},
		{'t', track != nil}, {'R', track != nil && track.Broken},
		{'B', track != nil && track.Bcast}, {'d', cl.WatchDirty()}, {'c', cl.CloseAfterReply},
		{'A', cl.CloseASAP}, {'U', cl.Unix}, {'r', cl.ReadOnly}, {'e', cl.NoEvict},
		{'T', cl.NoTouch},
		{'I', cl.Internal || cl.importSource},
	} {
		if f.on {
			b = append(b, f.letter)
		}
	}
	if len(b) == 0 {
		return "N"
	}
	return string(b)
}

// buffers returns what the client's connection holds. What waits for a replica includes the stream.
func (cl *Client) buffers() (in, inCap, waiting int) {
	if cl.Conn != nil {
		in, inCap, waiting = cl.Conn.Buffers()
	}
	if cl.replica != nil {
		waiting += int(cl.replica.Lag())
	}
	return in, inCap, waiting
}

// AppendInfo appends the client's line of CLIENT LIST, with its newline. argv is the size in bytes
// of the arguments of the client's running command. Fields and their order are those of Redis 8.
func (cl *Client) AppendInfo(b []byte, e *Engine, argv int) []byte {
	in, inCap, waiting := cl.buffers()
	events := "r"
	argv += len(bytes.Join(cl.WaitingArgs(), nil))
	replies := len(cl.W.Buf)
	blocks := 0
	if waiting > 0 {
		events, blocks = "rw", 1
	}
	cmd := "NULL"
	if cl.LastCmd != nil {
		cmd = cl.LastCmd.FullName()
	}
	num := func(name string, n int64) {
		b = append(append(append(b, name...), '='), strconv.AppendInt(nil, n, 10)...)
		b = append(b, ' ')
	}
	str := func(name, s string) {
		s, _, _ = strings.Cut(s, "\x00") // what is behind it has not been checked
		b = append(append(append(append(b, name...), '='), s...), ' ')
	}
	num("id", int64(cl.ID))
	str("addr", cl.Addr)
	str("laddr", cl.LAddr)
	num("fd", int64(cl.FD))
	str("name", cl.Name)
	num("age", max(e.Steady()-cl.Created, 0)/1000)
	num("idle", max(e.Steady()-cl.LastUsed, 0)/1000)
	str("flags", cl.FlagLetters())
	num("db", int64(cl.DB().ID()))
	num("sub", int64(cl.Subscriptions().Len(pubsub.Channels)))
	num("psub", int64(cl.Subscriptions().Len(pubsub.Patterns)))
	num("ssub", int64(cl.Subscriptions().Len(pubsub.Shards)))
	num("multi", int64(cl.QueuedCommands()))
	num("watch", int64(cl.WatchedKeys()))
	num("qbuf", int64(in))
	num("qbuf-free", int64(inCap-in))
	num("argv-mem", int64(argv))
	num("multi-mem", cl.MultiMemory())
	num("rbs", int64(replies)) // the capacity of W.Buf is lent by the loop
	num("rbp", int64(cl.MaxBuf))
	num("obl", int64(replies))
	num("oll", int64(blocks))
	num("omem", int64(waiting))
	num("tot-mem", e.ClientMemory(cl)+int64(argv))
	str("events", events)
	str("cmd", cmd)
	str("user", cl.UserName())
	num("redir", cl.RedirectID())
	num("resp", int64(max(cl.W.Proto, 2)))
	str("lib-name", cl.LibName)
	str("lib-ver", cl.LibVer)
	num("io-thread", int64(cl.Loop))
	if cl.Redirects {
		str("capa", "r") // Valkey's field, for clients of Valkey only
	}
	b[len(b)-1] = '\n'
	return b
}

// RedirectID returns the ID of the client that hears of the client's invalid keys: 0 for itself, -1
// for nobody.
func (cl *Client) RedirectID() int64 {
	if t := cl.Tracking(); t != nil {
		return int64(t.Redirect)
	}
	return -1
}
