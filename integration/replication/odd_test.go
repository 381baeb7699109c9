package replication

import (
	"bufio"
	"fmt"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/testserver"
)

// oddMaster is a server that says what it is told to, whatever it hears: its words, one for each
// request. Then it closes the connection, unless it is to be silent.
type oddMaster struct {
	name   string
	words  []string
	silent bool
	log    string // what the replica says of it
}

const replID = "0123456789abcdef0123456789abcdef01234567"

// handshake is what a master says up to PSYNC.
var handshake = []string{"+PONG\r\n", "+OK\r\n+OK\r\n-ERR\r\n"}

// after returns an odd master that says something to PSYNC.
func after(name, text, log string) oddMaster {
	return oddMaster{name: name, words: append(handshake[:2:2], text), log: log}
}

// full returns an odd master that begins a full synchronization.
func full(name, text, log string) oddMaster {
	return after(name, "+FULLRESYNC "+replID+" 5\r\n"+text, log)
}

func oddMasters() []oddMaster {
	rdb := "REDIS0009\xfe\x00\x00\x01a\x01b\xff"
	sized := func(s string) string { return fmt.Sprintf("$%d\r\n%s", len(s), s) }
	return []oddMaster{
		{name: "http", words: []string{"HTTP/1.1 400 Bad Request\r\n\r\n"},
			log: "Error reply to PING from master: 'HTTP/1.1 400 Bad Request'"},
		{name: "silence", silent: true, log: "Timeout: the master does not answer"},
		{name: "endless line", words: []string{"+" + strings.Repeat("x", 1<<20)},
			log: "a line of more than 4096 bytes"},
		{name: "closed", log: "Connection closed by the master"},
		{name: "silence later", words: handshake, silent: true,
			log: "Master did not reply to PSYNC, will try later: Timeout"},
		after("garbage", "+\x00\xff\r\n", "Unexpected reply to PSYNC from master: +.."),
		after("no master", "-NOMASTERLINK Can't SYNC\r\n",
			"unable to PSYNC but should be in the future"),
		full("no bulk", "*1\r\n$4\r\nPING\r\n",
			"Bad protocol from MASTER, the first byte is not '$'"),
		full("aborted", "-ERR no memory\r\n",
			"MASTER aborted replication with an error: ERR no memory"),
		full("truncated", "$1000\r\n"+rdb, "I/O error trying to sync with MASTER: connection lost"),
		full("no mark", "$EOF:"+replID+"\r\n"+rdb, "I/O error trying to sync with MASTER"),
		full("endless", fmt.Sprintf("$%d\r\n%s", int64(math.MaxInt64), rdb),
			"the disk has no room for 9223372036854775807 bytes"),
		full("checksum", sized(rdb+"12345678"), "RDB CRC error"),
		{name: "silence in the file", words: append(handshake[:2:2], "+FULLRESYNC "+replID+
			" 5\r\n$1000\r\nREDIS"), silent: true, log: "Timeout receiving bulk data from MASTER"},
	}
}

// serve speaks with one replica after the other.
func (o oddMaster) serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go o.talk(c)
	}
}

func (o oddMaster) talk(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	buf := make([]byte, 4096)
	for _, text := range o.words {
		if _, err := r.Read(buf); err != nil {
			return
		}
		if _, err := c.Write([]byte(text)); err != nil {
			return
		}
	}
	if o.silent {
		for {
			if _, err := r.Read(buf); err != nil {
				return
			}
		}
	}
	if len(o.words) == 0 {
		_, _ = r.Read(buf)
	}
}

// TestOddMasters has a replica follow what is no master, or one that is broken. It says so, keeps
// its data, and tries again.
func TestOddMasters(t *testing.T) {
	t.Parallel()
	for _, o := range oddMasters() {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer l.Close()
			go o.serve(l)
			s := godwit.Run(t, "--repl-timeout", "1")
			do(t, s, "SET", "k", "old")
			require.NoError(t, s.FollowAddr(l.Addr().String()))
			require.NoError(t, s.WaitLog(o.log))
			require.Equal(t, "old", do(t, s, "GET", "k"))
			require.Eventually(t, func() bool { // it goes on trying
				return strings.Count(s.Output(), "Connecting to MASTER") > 1
			}, testserver.Patience, 5*time.Millisecond)
			require.NoError(t, s.Promote())
			do(t, s, "SET", "k", "new")
		})
	}
}

// TestBrokenData has a master send an RDB file that cannot be loaded, and whose checksum does not
// tell. Half of it is not served. The old data is kept, unless it was loaded in its place.
func TestBrokenData(t *testing.T) {
	t.Parallel()
	for _, load := range []string{"disabled", "on-empty-db", "swapdb"} {
		t.Run(load, func(t *testing.T) {
			t.Parallel()
			// No such type. And there are not so many keys, nor so many bytes.
			rdb := "REDIS0009\xfe\x00" + "\xfb\x81\x10\x00\x00\x00\x00\x00\x00\x00\x00" +
				"\x00\x01a\x01b\x63\x01c\x01d\xff12345678"
			o := full("", fmt.Sprintf("$%d\r\n%s", int64(math.MaxInt64), rdb), "")
			if load == "disabled" {
				o = full("", fmt.Sprintf("$%d\r\n%s", len(rdb), rdb), "")
			}
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer l.Close()
			go o.serve(l)
			s := godwit.Run(t, "--rdbchecksum", "no", "--repl-diskless-load", load)
			keys := "0"
			if load != "on-empty-db" {
				do(t, s, "MSET", "k", 1, "l", 2)
				keys = "2"
			}
			require.NoError(t, s.FollowAddr(l.Addr().String()))
			require.NoError(t, s.WaitLog("Failed trying to load the MASTER synchronization DB"))
			require.Equal(t, keys, do(t, s, "DBSIZE"))
			require.NoError(t, s.WaitNoLink())
		})
	}
}

// TestFileAfterBrokenData has a master send a value that cannot be decoded, which shows only when
// the old data is gone from memory. The files still have that: it is back after a restart.
func TestFileAfterBrokenData(t *testing.T) {
	t.Parallel()
	for _, log := range []string{"no", "yes"} {
		t.Run("appendonly "+log, func(t *testing.T) {
			t.Parallel()
			rdb := "REDIS0012\xfe\x00\x00\x01a\x01b\x10\x01h\x03bad\xff" + strings.Repeat("\x00", 8)
			o := full("", fmt.Sprintf("$%d\r\n%s", len(rdb), rdb), "")
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer l.Close()
			go o.serve(l)
			s := godwit.Run(t, "--appendonly", log, "--save", "3600 1", "--replica-read-only", "no")
			do(t, s, "SET", "k", "old")
			do(t, s, "SAVE")
			require.NoError(t, s.FollowAddr(l.Addr().String()))
			require.NoError(t, s.WaitLog("Failed trying to load the MASTER synchronization DB"))
			require.NoError(t, s.Stop())
			s = s.Again(t)
			require.NoError(t, s.Promote())
			require.Equal(t, "old", do(t, s, "GET", "k"))
		})
	}
}

// TestTail has a master send more behind the end of an RDB file, and never stop.
func TestTail(t *testing.T) {
	t.Parallel()
	for _, load := range []string{"disabled", "on-empty-db", "swapdb"} {
		t.Run(load, func(t *testing.T) {
			t.Parallel()
			rdb := "REDIS0009\xfe\x00\x00\x01a\x01b\xff\x00\x00\x00\x00\x00\x00\x00\x00x"
			size := int64(math.MaxInt64)
			if load == "disabled" {
				size = int64(len(rdb))
			}
			o := full("", fmt.Sprintf("$%d\r\n%s", size, rdb), "")
			o.silent = true
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			defer l.Close()
			go o.serve(l)
			s := godwit.Run(t, "--repl-diskless-load", load, "--rdbchecksum", "no")
			require.NoError(t, s.FollowAddr(l.Addr().String()))
			require.NoError(t, s.WaitLog("there are bytes behind its end"))
			require.Equal(t, "0", do(t, s, "DBSIZE"))
		})
	}
}

// TestOwnMaster has a server follow itself.
func TestOwnMaster(t *testing.T) {
	t.Parallel()
	s := godwit.Run(t)
	do(t, s, "SET", "k", "old")
	require.NoError(t, s.FollowAddr(s.Addr))
	require.NoError(t, s.WaitLog("NOMASTERLINK"))
	require.Equal(t, "old", do(t, s, "GET", "k"))
}

// TestPassword has a replica know no password, a wrong one, and the right one.
func TestPassword(t *testing.T) {
	pairs := []pair{{redis7, godwit}, {redis8, godwit}, {valkey9, godwit}, {godwit, godwit}}
	forPairs(t, pairs, func(t *testing.T, p pair) {
		master, replica := p.master.Run(t, "--masterauth", "x"), p.replica.Run(t)
		do(t, master, "SET", "k", "v")
		do(t, master, "ACL", "SETUSER", "repl", "on", ">secret", "+psync", "+replconf", "+ping")
		do(t, master, "ACL", "SETUSER", "default", "resetpass", ">other")
		require.NoError(t, replica.FollowAddr(master.Addr))
		require.NoError(t, replica.WaitLog("NOAUTH"))
		do(t, replica, "CONFIG", "SET", "masterauth", "wrong")
		require.NoError(t, replica.WaitLog("Unable to AUTH to MASTER: -WRONGPASS"))
		do(t, replica, "CONFIG", "SET", "masteruser", "repl", "masterauth", "secret")
		require.NoError(t, replica.WaitLink())
		require.Equal(t, "v", do(t, replica, "GET", "k"))
	})
}
