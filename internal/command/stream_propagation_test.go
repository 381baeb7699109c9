package command

import (
	"regexp"
	"strings"
	"testing"

	"godwit/internal/propagation/propagationtest"
)

// streamPropagation are commands of streams, and what of them goes to the log. It is what Redis 8
// writes, except for consumers that got nothing: Redis does not say that they were created.
var streamPropagation = []struct{ command, want string }{
	{"XADD s 1-1 f v", "0 XADD s 1-1 f v"},
	{"XADD s 1-1 f v", ""},
	{"XADD s 2-* f v", "0 XADD s 2-0 f v"},
	{"XADD s 2 f v", ""},
	{"XADD s 3 f v", "0 XADD s 3 f v"},
	{"XADD s MAXLEN 2 4-1 f v", "0 XADD s MAXLEN 2 4-1 f v"},
	{"XADD s MAXLEN = 9 4-2 f v", "0 XADD s MAXLEN = 9 4-2 f v"},
	{"XADD s MAXLEN ~ 9 4-3 f v", "0 XADD s MAXLEN = 4 4-3 f v"},
	{"XADD s MINID 4 5-* f v", "0 XADD s MINID 4 5-0 f v"},
	{"XADD s MINID ~ 1 5-* f v", "0 XADD s MINID = 4-1 5-1 f v"},
	{"XADD s MAXLEN ~ 2 LIMIT 0 5-* f v", "0 XADD s MAXLEN = 6 LIMIT 0 5-2 f v"},
	{"XADD s NOMKSTREAM 5-* f v", "0 XADD s NOMKSTREAM 5-3 f v"},
	{"XADD none NOMKSTREAM 5-1 f v", ""},
	{"XADD s NOMKSTREAM MAXLEN ~ 3 LIMIT 5 6-* f v",
		"0 XADD s NOMKSTREAM MAXLEN = 8 LIMIT 5 6-0 f v"},
	{"XADD s MAXLEN 0 7-1 f v", "0 XADD s MAXLEN 0 7-1 f v"},
	{"XADD s 8-1 f v", "0 XADD s 8-1 f v"},
	{"XADD s 8-2 f v", "0 XADD s 8-2 f v"},
	{"XADD s 8-3 f v", "0 XADD s 8-3 f v"},
	{"XADD s 8-4 f v", "0 XADD s 8-4 f v"},
	{"XTRIM s MAXLEN 9", ""},
	{"XTRIM s MAXLEN 3", "0 XTRIM s MAXLEN 3"},
	{"XTRIM s MAXLEN ~ 0 LIMIT 1", ""},
	{"XTRIM s MINID 8-3", "0 XTRIM s MINID 8-3"},
	{"XTRIM s MINID ~ 99 LIMIT 0",
		"0 XTRIM s MINID = 18446744073709551615-18446744073709551615 LIMIT 0"},
	{"XADD s 8-4 f v", ""},
	{"XADD s 8-5 f v", "0 XADD s 8-5 f v"},
	{"XADD s 8-6 f v", "0 XADD s 8-6 f v"},
	{"XTRIM s MAXLEN ~ 0", "0 XTRIM s MAXLEN = 0"},
	{"XADD s 9-1 f v", "0 XADD s 9-1 f v"},
	{"XADD s 9-2 f v", "0 XADD s 9-2 f v"},
	{"XADD s 9-3 f v", "0 XADD s 9-3 f v"},
	{"XADD s 9-4 f v", "0 XADD s 9-4 f v"},
	{"XDEL s 9-1", "0 XDEL s 9-1"},
	{"XDEL s 9-1", ""},
	{"XDEL s 1-1 9-2 9-2", "0 XDEL s 1-1 9-2 9-2"},
	{"XADD s 9-5 f v", "0 XADD s 9-5 f v"},
	{"XSETID s 9-6", "0 XSETID s 9-6"},
	{"XSETID s 1-1", ""},
	{"XGROUP CREATE s g $", "0 XGROUP CREATE s g $"},
	{"XGROUP CREATE s g $", ""},
	{"XGROUP CREATE s h 0", "0 XGROUP CREATE s h 0"},
	{"XGROUP CREATE new g $ MKSTREAM", "0 XGROUP CREATE new g $ MKSTREAM"},
	{"XGROUP CREATECONSUMER s g c", "0 XGROUP CREATECONSUMER s g c"},
	{"XGROUP CREATECONSUMER s g c", ""},
	{"XGROUP DELCONSUMER s g nobody", ""},
	{"XGROUP SETID s g 0", "0 XGROUP SETID s g 0"},
	{"XREADGROUP GROUP g c COUNT 1 STREAMS s >",
		"0 XCLAIM s g c 0 9-3 TIME NOW RETRYCOUNT 1 FORCE JUSTID LASTID 9-3|" +
			"0 XGROUP SETID s g 9-3 ENTRIESREAD 21"},
	{"XREADGROUP GROUP g d COUNT 1 NOACK STREAMS s >",
		"0 XGROUP SETID s g 9-4 ENTRIESREAD 22|" +
			"0 XGROUP CREATECONSUMER s g d"},
	{"XREADGROUP GROUP g d COUNT 1 NOACK STREAMS s >", "0 XGROUP SETID s g 9-5 ENTRIESREAD 23"},
	{"XREADGROUP GROUP g e STREAMS s >", "0 XGROUP CREATECONSUMER s g e"},
	{"XREADGROUP GROUP g e STREAMS s 0", ""},
	{"XREADGROUP GROUP g i STREAMS s 0", "0 XGROUP CREATECONSUMER s g i"},
	{"XADD s 10-1 f v", "0 XADD s 10-1 f v"},
	{"XADD s 10-2 f v", "0 XADD s 10-2 f v"},
	{"XREADGROUP GROUP g e STREAMS s >",
		"0 XCLAIM s g e 0 10-1 TIME NOW RETRYCOUNT 1 FORCE JUSTID LASTID 10-1|" +
			"0 XCLAIM s g e 0 10-2 TIME NOW RETRYCOUNT 1 FORCE JUSTID LASTID 10-2|" +
			"0 XGROUP SETID s g 10-2 ENTRIESREAD 25"},
	{"XREADGROUP GROUP h e STREAMS s new > >", ""},
	{"XREADGROUP GROUP h e STREAMS s >",
		"0 XCLAIM s h e 0 9-3 TIME NOW RETRYCOUNT 1 FORCE JUSTID LASTID 9-3|" +
			"0 XCLAIM s h e 0 9-4 TIME NOW RETRYCOUNT 1 FORCE JUSTID LASTID 9-4|" +
			"0 XCLAIM s h e 0 9-5 TIME NOW RETRYCOUNT 1 FORCE JUSTID LASTID 9-5|" +
			"0 XCLAIM s h e 0 10-1 TIME NOW RETRYCOUNT 1 FORCE JUSTID LASTID 10-1|" +
			"0 XCLAIM s h e 0 10-2 TIME NOW RETRYCOUNT 1 FORCE JUSTID LASTID 10-2|" +
			"0 XGROUP SETID s h 10-2 ENTRIESREAD 25"},
	{"XACK s g 9-3", "0 XACK s g 9-3"},
	{"XACK s g 9-3", ""},
	{"XACK s g 10-1 9-9 10-2", "0 XACK s g 10-1 9-9 10-2"},
	{"XCLAIM s h k 0 9-9", "0 XGROUP CREATECONSUMER s h k"},
	{"XCLAIM s h k 0 9-3", "0 XCLAIM s h k 0 9-3 TIME NOW RETRYCOUNT 2 FORCE JUSTID LASTID 10-2"},
	{"XCLAIM s h k 0 9-3 9-4 JUSTID",
		"0 XCLAIM s h k 0 9-3 TIME NOW RETRYCOUNT 2 FORCE JUSTID LASTID 10-2|" +
			"0 XCLAIM s h k 0 9-4 TIME NOW RETRYCOUNT 1 FORCE JUSTID LASTID 10-2"},
	{"XCLAIM s h l 0 9-3 TIME 1000 RETRYCOUNT 7",
		"0 XCLAIM s h l 0 9-3 TIME 1000 RETRYCOUNT 7 FORCE JUSTID LASTID 10-2"},
	{"XCLAIM s h l 99999999999 9-4", ""},
	{"XCLAIM s h l 0 9-4 IDLE 0 FORCE LASTID 11-1",
		"0 XCLAIM s h l 0 9-4 TIME NOW RETRYCOUNT 2 FORCE JUSTID LASTID 11-1"},
	{"XCLAIM s h l 0 99-1 LASTID 12-1", "0 XGROUP SETID s h 12-1 ENTRIESREAD 25"},
	{"XCLAIM s h l 0 99-1 LASTID 12-1", ""},
	{"XDEL s 9-3", "0 XDEL s 9-3"},
	{"XCLAIM s h l 0 9-3", "0 XCLAIM s h l 0 9-3 TIME 1000 RETRYCOUNT 7 FORCE JUSTID LASTID 12-1"},
	{"XCLAIM s g l 0 9-4 FORCE",
		"0 XCLAIM s g l 0 9-4 TIME NOW RETRYCOUNT 2 FORCE JUSTID LASTID 10-2"},
	{"XAUTOCLAIM s h m 0 0 COUNT 1",
		"0 XCLAIM s h m 0 9-4 TIME NOW RETRYCOUNT 3 FORCE JUSTID LASTID 12-1"},
	{"XAUTOCLAIM s h m 0 0 COUNT 2 JUSTID",
		"0 XCLAIM s h m 0 9-4 TIME NOW RETRYCOUNT 3 FORCE JUSTID LASTID 12-1|" +
			"0 XCLAIM s h m 0 9-5 TIME NOW RETRYCOUNT 1 FORCE JUSTID LASTID 12-1"},
	{"XDEL s 9-4", "0 XDEL s 9-4"},
	{"XAUTOCLAIM s h m 0 0",
		"0 XCLAIM s h m 0 9-4 TIME NOW RETRYCOUNT 3 FORCE JUSTID LASTID 12-1|" +
			"0 XCLAIM s h m 0 9-5 TIME NOW RETRYCOUNT 2 FORCE JUSTID LASTID 12-1|" +
			"0 XCLAIM s h m 0 10-1 TIME NOW RETRYCOUNT 2 FORCE JUSTID LASTID 12-1|" +
			"0 XCLAIM s h m 0 10-2 TIME NOW RETRYCOUNT 2 FORCE JUSTID LASTID 12-1"},
	{"XAUTOCLAIM s h n 99999999999 0", "0 XGROUP CREATECONSUMER s h n"},
	{"XAUTOCLAIM s h n 99999999999 0", ""},
	{"XPENDING s h", ""},
	{"XGROUP SETID s g $", "0 XGROUP SETID s g $"},
	{"XGROUP SETID s g 0 ENTRIESREAD 1", "0 XGROUP SETID s g 0 ENTRIESREAD 1"},
	{"XGROUP DELCONSUMER s h m", "0 XGROUP DELCONSUMER s h m"},
	{"XGROUP DESTROY s h", "0 XGROUP DESTROY s h"},
	{"XGROUP DESTROY s h", ""},
	{"XADD t 1-1 f v", "0 XADD t 1-1 f v"},
	{"XADD t 1-2 f v", "0 XADD t 1-2 f v"},
	{"XDEL t 1-1", "0 XDEL t 1-1"},
	{"XADD t 1-3 f v", "0 XADD t 1-3 f v"},
	{"XGROUP CREATE t g 0", "0 XGROUP CREATE t g 0"},
	{"XREADGROUP GROUP g c COUNT 1 STREAMS t >",
		"0 XCLAIM t g c 0 1-2 TIME NOW RETRYCOUNT 1 FORCE JUSTID LASTID 1-2|" +
			"0 XGROUP SETID t g 1-2 ENTRIESREAD 2"},
	{"XREADGROUP GROUP g c COUNT 1 STREAMS t t > >",
		"0 XCLAIM t g c 0 1-3 TIME NOW RETRYCOUNT 1 FORCE JUSTID LASTID 1-3|" +
			"0 XGROUP SETID t g 1-3 ENTRIESREAD 3"},
	{"XREADGROUP GROUP g c STREAMS t s > >",
		"0 XCLAIM s g c 0 9-5 TIME NOW RETRYCOUNT 1 FORCE JUSTID LASTID 9-5|" +
			"0 XCLAIM s g c 0 10-1 TIME NOW RETRYCOUNT 1 FORCE JUSTID LASTID 10-1|" +
			"0 XCLAIM s g c 0 10-2 TIME NOW RETRYCOUNT 1 FORCE JUSTID LASTID 10-2|" +
			"0 XGROUP SETID s g 10-2 ENTRIESREAD 25"},
	{"XADD t 99999999999999-5 f v", "0 XADD t 99999999999999-5 f v"},
	{"XADD t * f v", "0 XADD t 99999999999999-6 f v"},
	{"XADD t 99999999999999-* f v", "0 XADD t 99999999999999-7 f v"},
	{"XADD t MAXLEN ~ 1 * f v", "0 XADD t MAXLEN = 6 99999999999999-8 f v"},
	{"XREADGROUP GROUP g c NOACK STREAMS t >", "0 XGROUP SETID t g 99999999999999-8 ENTRIESREAD 7"},
	{"XGROUP CREATE t h 0", "0 XGROUP CREATE t h 0"},
	{"XNACK t h FAIL IDS 1 1-2", ""},
	{"XNACK t h FAIL IDS 1 1-2 FORCE", "0 XNACK t h FAIL IDS 1 1-2 FORCE"},
	{"XNACK t h FAIL IDS 2 1-3 1-2", "0 XNACK t h FAIL IDS 2 1-3 1-2"},
	{"XNACK t h FAIL IDS 3 9-9 1-3 1-2 RETRYCOUNT 4 FORCE",
		"0 XNACK t h FAIL IDS 3 9-9 1-3 1-2 RETRYCOUNT 4 FORCE"},
	{"XNACK t h FAIL IDS 2 9-9 9-9 FORCE", ""},
}

// TestStreamPropagation checks what goes to the log and the replicas: IDs that the server chose,
// trimming without ~, and deliveries as claims.
func TestStreamPropagation(t *testing.T) {
	l := newLocal(t)
	s := propagationtest.Attach(&l.e.Feed)
	now := regexp.MustCompile(`\b\d{13}\b`)
	for _, c := range streamPropagation {
		s.Reset()
		l.exec(argvOf(strings.Split(c.command, " ")...))
		got := now.ReplaceAllString(strings.Join(s.Lines(), "|"), "NOW")
		if got != c.want {
			t.Errorf("%s: propagated\n%s\nwant\n%s", c.command, got, c.want)
		}
	}
}
