package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"godwit/internal/engine"
	"godwit/internal/keyspace"
)

// hiddenReads are reads of expired data that is only hidden, and their replies. The replies are
// those of a replica of Redis 8, with three exceptions: there, HLEN and HRANDFIELD also see expired
// fields, and MEMORY USAGE sees expired keys.
const hiddenReads = `
GET s => (nil)
STRLEN s => (integer) 0
GETRANGE s 0 -1 => ""
MGET s other => 1) (nil)|2) "x"
EXISTS s l h other => (integer) 1
TYPE s => none
TTL s => (integer) -2
PTTL s => (integer) -2
EXPIRETIME s => (integer) -2
OBJECT ENCODING s => (nil)
DUMP s => (nil)
TOUCH s => (integer) 0
MEMORY USAGE s => (nil)
LLEN l => (integer) 0
LRANGE l 0 -1 => (empty array)
LPOS l a => (nil)
SORT_RO l => (empty array)
SCARD set => (integer) 0
SMEMBERS set => (empty array)
SUNION set src => 1) "q"
SINTERCARD 2 set src => (integer) 0
SRANDMEMBER set => (nil)
ZCARD z => (integer) 0
ZRANGE z 0 -1 => (empty array)
ZSCORE z a => (nil)
ZUNION 2 z set => (empty array)
HLEN h => (integer) 0
HGETALL h => (empty array)
BITCOUNT s => (integer) 0
PFCOUNT s => (integer) 0
LCS s other => ""
SCAN 0 TYPE string COUNT 100 => 1) "0"|2) 1) "other"
KEYS *s* => (empty array)
DBSIZE => (integer) 8
HLEN hf => (integer) 1
HGETALL hf => 1) "c"|2) "3"
HGET hf a => (nil)
HMGET hf a c => 1) (nil)|2) "3"
HEXISTS hf a => (integer) 0
HKEYS hf => 1) "c"
HVALS hf => 1) "3"
HSTRLEN hf a => (integer) 0
HTTL hf FIELDS 2 a c => 1) (integer) -2|2) (integer) -1
HRANDFIELD hf 10 => 1) "c"
HSCAN hf 0 => 1) "0"|2) 1) "c"|   2) "3"
EXISTS hall => (integer) 1
TYPE hall => hash
TTL hall => (integer) -1
HGETALL hall => (empty array)
HGET hall a => (nil)
HLEN hall => (integer) 0
HRANDFIELD hall => (nil)
HRANDFIELD hall -3 => (empty array)
HSCAN hall 0 => 1) "0"|2) (empty array)
`

// hiddenWrites are writes by a client for whom expired data is only hidden, each on freshly filled
// keys. Each line has the number of keys afterwards: that of a writable replica of Redis 8.
const hiddenWrites = `
SET s n => OK / 8
SETNX s n => (integer) 1 / 8
APPEND s x => (integer) 1 / 8
INCR s => (integer) 1 / 8
LPUSH l z => (integer) 1 / 8
RPOP l => (nil) / 7
SADD set z => (integer) 1 / 8
SPOP set => (nil) / 7
ZADD z 2 b => (integer) 1 / 8
HSET h z 1 => (integer) 1 / 8
DEL s => (integer) 1 / 7
UNLINK s => (integer) 1 / 7
PERSIST s => (integer) 0 / 7
RENAME s t => (error) ERR no such key / 7
SET s n GET => (nil) / 8
SET s n KEEPTTL => OK / 8
HINCRBY hf a 1 => (integer) 1 / 8
HSETNX hf a 1 => (integer) 1 / 8
HPERSIST hf FIELDS 1 a => 1) (integer) -2 / 8
EXPIRE other -1 => (integer) 1 / 8
SET other x PXAT 1 => OK / 8
`

// hiding is an engine whose expire mode the test sets.
type hiding struct {
	*local
	skew int64
}

// fill creates keys and fields that have expired, and some that have not. Expired data is only
// hidden.
func (l *hiding) fill(t *testing.T) {
	l.mode(keyspace.ExpireDelete)
	for _, line := range strings.Split(strings.TrimSpace(`
FLUSHALL
SET s v PX 1000
RPUSH l a b
PEXPIRE l 1000
SADD set a b
PEXPIRE set 1000
ZADD z 1 a
PEXPIRE z 1000
HSET h a 1 b 2
PEXPIRE h 1000
HSET hf a 1 b 2 c 3
HPEXPIRE hf 1000 FIELDS 2 a b
HSET hall a 1 b 2
HPEXPIRE hall 1000 FIELDS 2 a b
SET other x`), "\n") {
		require.False(t, l.do(t, split(line)).IsError(), line)
	}
	l.mode(keyspace.ExpireHide)
	l.skew += 2000
	l.e.Enter()
	l.e.SetClockOffset(l.skew)
	l.e.Leave()
}

func (l *hiding) mode(m keyspace.ExpireMode) {
	l.e.Enter()
	defer l.e.Leave()
	l.e.KS.SetExpireMode(m)
}

func (l *hiding) lines(t *testing.T, command string) string {
	return strings.Join(cliLines(l.do(t, split(command)), 0), "|")
}

// TestHiddenKeysAndFields reads and writes expired data that is only hidden. Reads change nothing:
// a master, for whom expiry is ignored, still finds everything.
func TestHiddenKeysAndFields(t *testing.T) {
	l := &hiding{local: newLocal(t)}
	l.fill(t)
	for _, line := range strings.Split(strings.TrimSpace(hiddenReads), "\n") {
		command, want, _ := strings.Cut(line, " => ")
		if strings.Contains(command, " src") {
			l.do(t, split("SADD src q"))
			assert.Equal(t, want, l.lines(t, command), command)
			l.do(t, split("DEL src"))
			continue
		}
		assert.Equal(t, want, l.lines(t, command), command)
	}
	l.e.Enter()
	for range 100 { // Slices of background work.
		l.e.Slice()
	}
	l.e.Leave()
	l.c.Origin = engine.OriginMaster
	for command, want := range map[string]string{
		"GET s": `"v"`, "LRANGE l 0 -1": `1) "a"|2) "b"`, "SCARD set": "(integer) 2",
		"ZSCORE z a": `"1"`, "HGET h a": `"1"`, "HGET hf a": `"1"`, "HLEN hall": "(integer) 2",
	} {
		assert.Equal(t, want, l.lines(t, command), command)
	}
	l.c.Origin = engine.OriginConnection
	require.Equal(t, "(nil)", l.lines(t, "GET s"), "the master's time is over")

	for _, line := range strings.Split(strings.TrimSpace(hiddenWrites), "\n") {
		l.fill(t)
		command, want, _ := strings.Cut(line, " => ")
		got := l.lines(t, command)
		keys := strings.TrimPrefix(l.lines(t, "DBSIZE"), "(integer) ")
		assert.Equal(t, want, got+" / "+keys, command)
	}
	l.fill(t)
	l.mode(keyspace.ExpireDelete)
	require.Equal(t, "(nil)", l.lines(t, "GET s"))
	require.Equal(t, "(integer) 7", l.lines(t, "DBSIZE"), "it may delete again")
}
