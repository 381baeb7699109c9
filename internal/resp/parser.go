// Package resp reads requests and writes replies in RESP2 and RESP3, the protocol of Redis.
//
// # Requests
//
// A request is a multibulk, an array of bulk strings, or an inline command, a line of words:
//
//	*3 CRLF $3 CRLF SET CRLF $3 CRLF key CRLF $5 CRLF value CRLF
//	SET key "a value" LF
//
// Parser is resumable. A socket delivers a command in any number of pieces, and a parser that
// starts over with each piece does work proportional to the square of the command's size: an
// MSET of 80 000 arguments is then a denial of service. This one remembers, as offsets from the
// start of the command, where every complete argument lies and how far it has looked for the end
// of a line, so each byte is looked at once:
//
//	buf    *3..$3..SET..$3..key..$5..va
//	       ^command     |      |   ^pos (the bulk's first byte)
//	                spans[0], spans[1]         left = 1, bulk = 5, inBulk
//
// Offsets, not slices, because between two calls the caller moves or grows its buffer.
//
// Invariants: spans lie below pos, in order, without overlap; no line end lies in [pos, scan);
// inBulk implies left > 0; len(spans)+left is the multibulk's announced length.
//
// Cost: O(bytes) time in total; 40 bytes of memory for each argument that has arrived (6 bytes of
// input at least), and nothing for those merely announced.
//
// The protocol is described at https://redis.io/docs/latest/develop/reference/protocol-spec/.
// What a broken request is answered with follows the observed behaviour of redis-server 7.0.15,
// including what it does not check: the two bytes after a length or a bulk are skipped unseen.
package resp

import "math"

// span is an argument's place, [start, end), relative to the start of the command. For inline
// commands it is relative to the start of the scratch buffer.
type span struct{ start, end int }

const (
	// keepArgs is for how many arguments a parser keeps its bookkeeping for ever (20 KiB).
	keepArgs = 512
	// keepScratch is the same for the decoded words of inline commands, in bytes.
	keepScratch = 1 << 10
	// shrinkAfter is how many small commands in a row make the parser drop the bookkeeping of a
	// large one. It is not 1: a client that alternates MSETs and GETs should not pay for growing
	// anew.
	shrinkAfter = 64
)

// Parser splits a byte stream into commands. Each connection has one. The zero value is ready.
type Parser struct {
	spans   []span   // complete arguments of the current command
	argv    [][]byte // what Next returned last; non-nil entries alias the caller's buffer
	scratch []byte   // decoded words of an inline command
	pos     int      // offset of the first byte not yet parsed
	scan    int      // offset where the search for the line's end goes on
	left    int      // arguments still to come; 0 at the start of a command
	bulk    int      // bytes of the bulk being read, if inBulk
	inBulk  bool     // the bulk's length is known, its bytes have not all arrived
	small   uint8    // consecutive commands far smaller than the slices' capacity
	steps   int      // bytes and arguments looked at, ever; tests prove linearity with it
}

// empty is what Next returns for a command without arguments. It is not nil and aliases nothing.
var empty = [][]byte{}

// Next parses one command from buf. buf must start at the first byte of the current command: after
// an incomplete call it holds the same bytes again, possibly moved, with more after them.
//
//   - Complete: argv is not nil, and consumed > 0 bytes are done with. An empty argv (an empty
//     line, *0 or *-1) is no command and gets no reply: just go on. argv and its elements alias buf
//     and the parser's memory. They are valid until the next call of Next or Reset.
//   - Incomplete: nil, 0, nil. Read more. Need returns the size if it is known.
//   - Broken: err is a *ProtocolError. The parser cannot be used until Reset.
func (p *Parser) Next(buf []byte, lim *Limits) (argv [][]byte, consumed int, err error) {
	if p.left == 0 {
		if len(buf) == 0 {
			return nil, 0, nil
		}
		if buf[0] != '*' {
			return p.inline(buf, lim)
		}
		if done, err := p.multibulk(buf, lim); !done {
			return nil, 0, err
		}
	}
	if err := p.bulks(buf, lim); err != nil {
		return nil, 0, err
	}
	if p.left > 0 {
		return nil, 0, nil
	}
	consumed = p.pos
	return p.finish(buf), consumed, nil
}

// AppendWhole does what Next does for nearly all commands, at less cost: for those that have
// arrived as a whole, with at most nine arguments of less than 100 bytes each. It appends their
// arguments, which alias buf, to dst. For all else it changes nothing and consumes nothing, and
// Next must be called. It may be called between two commands and within one.
func (p *Parser) AppendWhole(dst [][]byte, buf []byte, lim *Limits) (args [][]byte, consumed int) {
	if p.left > 0 || len(buf) < 4 || buf[0] != '*' || buf[2] != '\r' || buf[1]-'1' >= 9 ||
		cap(p.spans) > keepArgs || lim.maxMultibulk() < 9 || lim.maxBulk() < 99 {
		return dst, 0
	}
	args, pos := dst, 4
	for range buf[1] - '0' {
		n := shortLen(buf, pos)
		if n < 0 {
			return dst, 0
		}
		if pos += 4; n > 9 {
			pos++
		}
		end := pos + n
		if len(buf) < end+2 {
			return dst, 0
		}
		args = append(args, buf[pos:end:end])
		pos = end + 2
	}
	if p.scan = 0; len(p.argv) > 0 { // it would keep an old buffer alive
		clear(p.argv)
		p.argv = p.argv[:0]
	}
	return args, pos
}

// Need returns how long buf must become for the bulk being read to be complete, line end included,
// or 0 if no bulk's length is known. A caller that grows its buffer to that size avoids doubling
// and copying its way up to a large value. But the number comes from the client, and only
// Limits.MaxBulk bounds it. So grow towards it in bounded steps, say to at most twice what has
// arrived or 1 MiB, whichever is more. Else a few bytes from each of many clients would reserve
// gigabytes.
func (p *Parser) Need() int {
	if !p.inBulk {
		return 0
	}
	if p.bulk > math.MaxInt-2-p.pos {
		return math.MaxInt // MaxBulk may be anything
	}
	return p.pos + p.bulk + 2
}

// Memory returns the memory in bytes that the arguments of the current command take here, beside
// the bytes of the input.
func (p *Parser) Memory() int { return argMemory * len(p.spans) }

// argMemory is the size of a span and of the slice that it becomes.
const argMemory = 16 + 24

// Reset forgets the current command. It drops all memory beyond the few KiB that a parser keeps,
// and the buffer that the last argv aliases. Call it when a connection goes idle after a large
// command, when its buffer is replaced by a smaller one, and before reuse for another connection.
func (p *Parser) Reset() {
	steps := p.steps
	argv, spans, scratch := p.argv, p.spans, p.scratch
	*p = Parser{steps: steps}
	if cap(spans) <= keepArgs && cap(argv) <= keepArgs {
		clear(argv)
		p.argv, p.spans = argv[:0], spans[:0]
	}
	if cap(scratch) <= keepScratch {
		p.scratch = scratch[:0]
	}
}

// multibulk parses the line "*<count>". done is false if it has not all arrived. A count that is
// not positive leaves left at 0.
func (p *Parser) multibulk(buf []byte, lim *Limits) (done bool, err error) {
	// One digit, as in nearly every command, needs no search, and strangers may send it.
	if len(buf) >= 4 && buf[2] == '\r' && buf[1]-'1' < 9 && lim.maxMultibulk() >= 9 {
		p.begin(int(buf[1]-'0'), 4)
		return true, nil
	}
	end, err := p.line(buf, lim.maxInline(), errBigMultibulk)
	if end < 0 || err != nil {
		return false, err
	}
	n, ok := parseLen(buf[1:end])
	if !ok || n > lim.maxMultibulk() {
		return false, errMultibulkLength
	}
	if n > unauthMultibulk && !lim.Authenticated {
		return false, errUnauthMultibulk
	}
	p.begin(int(max(n, 0)), end+2)
	return true, nil
}

// begin starts a command of n arguments, the first of which is at pos.
func (p *Parser) begin(n, pos int) {
	p.spans = p.spans[:0]
	p.left = n
	p.pos = pos
	p.scan = pos
}

// bulks parses arguments until none is left or the input ends.
func (p *Parser) bulks(buf []byte, lim *Limits) error {
	maxBulk := lim.maxBulk()
	for p.left > 0 {
		if !p.inBulk {
			if n := shortLen(buf, p.pos); n >= 0 && int64(n) <= maxBulk {
				p.bulk = n
				p.pos += 4
				if n > 9 {
					p.pos++
				}
			} else if ok, err := p.bulkLen(buf, maxBulk, lim); !ok {
				return err
			}
		}
		p.steps++
		end := p.pos + p.bulk
		if len(buf)-p.pos-2 < p.bulk {
			p.inBulk = true
			return nil
		}
		p.spans = append(p.spans, span{p.pos, end})
		p.pos = end + 2
		p.scan = p.pos
		p.inBulk = false
		p.left--
	}
	return nil
}

// shortLen reads the line "$<n>" at pos for n below 100, which covers nearly all. For longer,
// broken and incomplete lines it returns -1, and bulkLen takes over.
func shortLen(buf []byte, pos int) int {
	if len(buf)-pos < 5 {
		return -1
	}
	b := buf[pos : pos+5]
	d := int(b[1] - '0')
	switch {
	case b[0] != '$' || d > 9:
		return -1
	case b[2] == '\r':
		return d
	case b[3] == '\r' && d > 0 && b[2]-'0' <= 9:
		return d*10 + int(b[2]-'0')
	}
	return -1
}

// bulkLen parses the line "$<length>". ok is false if it has not all arrived.
func (p *Parser) bulkLen(buf []byte, maxBulk int64, lim *Limits) (ok bool, err error) {
	end, err := p.line(buf, lim.maxInline(), errBigBulk)
	if end < 0 || err != nil {
		return false, err
	}
	if buf[p.pos] != '$' {
		return false, errExpectedDollar(buf[p.pos])
	}
	n, ok := parseLen(buf[p.pos+1 : end])
	if !ok || n < 0 || n > maxBulk {
		return false, errBulkLength
	}
	if n > unauthBulk && !lim.Authenticated {
		return false, errUnauthBulk
	}
	p.bulk = int(n)
	p.pos = end + 2
	return true, nil
}

// line returns the offset of the CR that ends the length line at pos once the byte after it has
// arrived too, or -1. tooBig is the error if more than limit bytes hold no CR.
//
// A NUL hides everything after it, as in Redis: such a line never ends, and is refused when enough
// has arrived.
func (p *Parser) line(buf []byte, limit int, tooBig *ProtocolError) (int, error) {
	i := p.scan
	stop := min(len(buf), p.pos+limit+1)
	for i < stop && buf[i] != '\r' && buf[i] != 0 {
		i++
	}
	p.steps += i - p.scan + 1
	p.scan = i
	if i == stop || buf[i] == 0 {
		if len(buf)-p.pos > limit {
			return -1, tooBig
		}
		return -1, nil
	}
	if i+2 > len(buf) {
		return -1, nil
	}
	return i, nil
}

// finish ends a command: it turns the spans into slices of buf and sets the parser to the start of
// the next command.
func (p *Parser) finish(buf []byte) [][]byte {
	n := len(p.spans)
	p.trim(n)
	if cap(p.argv) < n {
		p.argv = make([][]byte, n, max(cap(p.spans), 8))
	} else {
		for i := n; i < len(p.argv); i++ {
			p.argv[i] = nil // it would keep an old buffer alive
		}
		p.argv = p.argv[:n]
	}
	for i, s := range p.spans {
		p.argv[i] = buf[s.start:s.end:s.end]
	}
	p.steps += n
	p.pos, p.scan, p.left, p.inBulk = 0, 0, 0, false
	p.spans = p.spans[:0]
	if n == 0 {
		return empty
	}
	return p.argv
}

// trim drops the slices of a large command once enough small ones have followed it.
func (p *Parser) trim(n int) {
	if cap(p.spans) <= keepArgs || n > cap(p.spans)/8 {
		p.small = 0
		return
	}
	if p.small++; p.small < shrinkAfter {
		return
	}
	p.small = 0
	p.argv = nil
	p.spans = append(make([]span, 0, max(n, 8)), p.spans...)
}

// parseLen reads a decimal integer as strictly as Redis reads lengths: an optional '-', no '+', no
// spaces, no leading zeros, no overflow.
func parseLen(b []byte) (int64, bool) {
	if len(b) == 1 && b[0]-'0' <= 9 {
		return int64(b[0] - '0'), true
	}
	neg := false
	if len(b) > 0 && b[0] == '-' {
		neg = true
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 19 || b[0] == '0' {
		return 0, false
	}
	var n uint64 // 19 digits cannot overflow it
	for _, c := range b {
		d := c - '0'
		if d > 9 {
			return 0, false
		}
		n = n*10 + uint64(d)
	}
	switch {
	case neg && n <= 1<<63:
		return -int64(n), true
	case !neg && n < 1<<63:
		return int64(n), true
	}
	return 0, false
}
