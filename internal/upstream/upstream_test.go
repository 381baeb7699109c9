package upstream

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"godwit/internal/logging"
	"godwit/internal/logging/loggingtest"
)

// script is a connection whose master says what is written down, whatever it hears.
type script struct {
	net.Conn
	says io.Reader
	said bytes.Buffer // by the replica
}

func (s *script) Read(b []byte) (int, error)       { return s.says.Read(b) }
func (s *script) Write(b []byte) (int, error)      { return s.said.Write(b) }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

// words returns what the replica has said, without the frames.
func (s *script) words() string {
	var said []string
	for _, w := range strings.Fields(s.said.String()) {
		if w[0] != '*' && w[0] != '$' {
			said = append(said, w)
		}
	}
	return strings.Join(said, " ")
}

func talk(says io.Reader) (*Conn, *script) {
	s := &script{says: says}
	return New(s, time.Minute), s
}

func quiet(t testing.TB) (*logging.Logger, *loggingtest.Buffer) {
	t.Helper()
	text := &loggingtest.Buffer{}
	log, err := logging.New(logging.Options{Out: text, Level: logging.Notice})
	require.NoError(t, err)
	return log, text
}

const id = "0123456789abcdef0123456789abcdef01234567"

// greeting is what masters say before PSYNC.
const greeting = "+PONG\r\n+OK\r\n+OK\r\n"

func TestAnswers(t *testing.T) {
	full := Answer{Kind: Full, ID: id, Offset: 17}
	for says, want := range map[string]struct {
		answer Answer
		err    string
	}{
		greeting + "+FULLRESYNC " + id + " 17\r\n":   {full, ""},
		greeting + "\n\n+CONTINUE\r\n":               {Answer{Kind: Continue}, ""},
		greeting + "+CONTINUE " + id + "\r\n":        {Answer{Kind: Continue, ID: id}, ""},
		greeting + "-ERR unknown command\r\n":        {Answer{Kind: Old}, ""},
		"-NOAUTH x\r\n-ERR\r\n-ERR\r\n+CONTINUE\r\n": {Answer{Kind: Continue}, ""},
		"HTTP/1.1 400 Bad\r\n":                       {err: "master: 'HTTP/1.1 400 Bad'"},
		"-ERR no\r\n":                                {err: "PING from master: '-ERR no'"},
		"":                                           {err: "Connection closed by the master"},
		"+PONG\r\n+OK\r\n":                           {err: "in replication handshake"},
		greeting:                                     {err: "Master did not reply to PSYNC"},
		greeting + "+FULLRESYNC " + id + "\r\n":      {err: "wrong +FULLRESYNC syntax"},
		greeting + "+FULLRESYNC " + id + " -1\r\n":   {err: "wrong +FULLRESYNC syntax"},
		greeting + "+FULLRESYNC " + id + " 9223372036854775807\r\n": {
			err: "an offset of +FULLRESYNC that no stream reaches"},
		greeting + "+FULLRESYNC short 1\r\n":           {err: "wrong +FULLRESYNC syntax"},
		greeting + "+RDBCHANNELSYNC 12\r\n":            {Answer{Kind: Channel, Client: "12"}, ""},
		greeting + "+RDBCHANNELSYNC -1\r\n":            {err: "wrong +RDBCHANNELSYNC syntax"},
		greeting + "+CONTINUE x\r\n":                   {err: "wrong +CONTINUE syntax"},
		greeting + "+WHAT\x01\r\n":                     {err: "reply to PSYNC from master: +WHAT."},
		greeting + "-NOMASTERLINK no\r\n":              {err: "unable to PSYNC but should be"},
		greeting + "-LOADING x\r\n":                    {err: "unable to PSYNC but should be"},
		"+" + strings.Repeat("x", 2*readBuffer):        {err: "more than 4096 bytes"},
		greeting + strings.Repeat("x", maxLine) + "\n": {err: "more than 4096 bytes"},
	} {
		for _, r := range []io.Reader{strings.NewReader(says),
			iotest.OneByteReader(strings.NewReader(says))} {
			c, _ := talk(r)
			log, _ := quiet(t)
			answer, err := c.Handshake(Hello{Port: 1, ID: id, Channel: true}, log)
			if want.err == "" {
				require.NoError(t, err, "%q", says)
				require.Equal(t, want.answer, answer, "%q", says)
				continue
			}
			require.ErrorContains(t, err, want.err, "%q", says)
			later := strings.Contains(want.err, "should be")
			require.Equal(t, later, errors.Is(err, ErrLater), "%q", says)
		}
	}
}

// TestUnasked has a master go on where the replica is, which has said that it is nowhere.
func TestUnasked(t *testing.T) {
	c, _ := talk(strings.NewReader(greeting + "+CONTINUE " + id + "\r\n"))
	log, _ := quiet(t)
	_, err := c.Handshake(Hello{}, log)
	require.ErrorContains(t, err, "continues a history that it was not asked for: +CONTINUE")
}

// TestRDBChannel checks what a replica says on its second connection, and what it believes.
func TestRDBChannel(t *testing.T) {
	for says, want := range map[string]string{
		"+OK\r\n+OK\r\n\n\n+FULLRESYNC " + id + " 17\r\n": "",
		"-WRONGPASS\r\n": "answers AUTH with: -WRONGPASS",
		"+OK\r\n-ERR Unrecognized RDB client id: 5\r\n": "answers REPLCONF with: -ERR Unrec",
		"+OK\r\n+OK\r\n+CONTINUE\r\n":                   "answers PSYNC with: +CONTINUE",
		"+OK\r\n+OK\r\n-ERR no\r\n":                     "answers PSYNC with: -ERR no",
		"+OK\r\n+OK\r\n":                                "Connection closed by the master",
		"":                                              "Connection closed by the master",
	} {
		c, said := talk(strings.NewReader(says))
		a, err := c.RDBChannel(Hello{Port: 7, Password: "pw"}, "5")
		if want != "" {
			require.ErrorIs(t, err, ErrChannel)
			require.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, Answer{Kind: Full, ID: id, Offset: 17}, a)
		require.Equal(t, "AUTH pw REPLCONF capa eof rdb-only 1 rdb-channel 1 main-ch-client-id 5 "+
			"listening-port 7 PSYNC ? -1", said.words())
	}
}

// TestWords checks what a replica says of itself.
func TestWords(t *testing.T) {
	c, s := talk(strings.NewReader("+PONG\r\n+OK\r\n+OK\r\n+OK\r\n+OK\r\n-ERR what\r\n" +
		"+CONTINUE\r\nrest"))
	log, text := quiet(t)
	_, err := c.Handshake(Hello{User: "u", Password: "p", Port: 7, IP: "h", Version: "9.1.0",
		ID: id, Offset: 41, Failover: true}, log)
	require.NoError(t, err)
	require.Equal(t, "PING AUTH u p REPLCONF listening-port 7 REPLCONF ip-address h REPLCONF capa "+
		"eof capa psync2 capa godwit REPLCONF version 9.1.0 PSYNC "+id+" 42 FAILOVER",
		s.words())
	require.Equal(t, "rest", string(c.Rest()))
	require.NotContains(t, text.String(), "Non critical")

	c, _ = talk(strings.NewReader("+PONG\r\n-WRONGPASS no\r\n+OK\r\n+OK\r\n"))
	_, err = c.Handshake(Hello{Password: "p"}, log)
	require.EqualError(t, err, "Unable to AUTH to MASTER: -WRONGPASS no")
}

// readAll reads a payload, and returns what the stream begins with.
func readAll(says io.Reader) (rdb, rest string, err error) {
	c, _ := talk(says)
	p, err := c.Payload()
	if err != nil {
		return "", "", err
	}
	b, err := io.ReadAll(p)
	return string(b), string(c.Rest()), err
}

func TestPayloads(t *testing.T) {
	mark := strings.Repeat("m", markLen-1) + "!"
	long := strings.Repeat("x", 600<<10) + mark[:20] + "y"
	for says, want := range map[string][3]string{
		"\n\n$5\r\nREDISrest":                     {"REDIS", "rest", ""},
		"$0\r\n":                                  {"", "", ""},
		"$EOF:" + mark + "\r\nREDIS" + mark:       {"REDIS", "", ""},
		"$EOF:" + mark + "\r\n" + mark:            {"", "", ""},
		"$EOF:" + mark + "\r\n" + long + mark:     {long, "", ""},
		"$EOF:" + mark + "\r\nREDIS" + mark[1:]:   {"", "", "connection lost"},
		"$6\r\nREDIS":                             {"", "", "connection lost"},
		"-ERR out of memory\r\n":                  {"", "", "error: ERR out of memory"},
		"$EOF:short\r\n":                          {"", "", "the mark of the end"},
		"$-1\r\n":                                 {"", "", "bad bulk count"},
		"$99999999999999999999\r\n":               {"", "", "bad bulk count"},
		"*1\r\n":                                  {"", "", "first byte is not '$'"},
		"$EOF:" + mark + "\r\nREDIS" + mark + "s": {"REDIS", "s", ""},
	} {
		for _, r := range []io.Reader{strings.NewReader(says),
			iotest.HalfReader(strings.NewReader(says))} {
			rdb, rest, err := readAll(r)
			if want[2] != "" {
				require.ErrorContains(t, err, want[2], "%.50q", says)
				continue
			}
			require.NoError(t, err, "%.50q", says)
			require.Equal(t, want[0] == rdb && want[1] == rest, true, "%.50q", says)
		}
	}
}

// FuzzMaster has a master say anything: no answer may end the process, or be read beyond its end.
func FuzzMaster(f *testing.F) {
	f.Add([]byte(greeting+"+FULLRESYNC "+id+" 17\r\n$5\r\nREDIS"), 3)
	f.Add([]byte(greeting+"+CONTINUE "+id+"\r\n*1\r\n$4\r\nPING\r\n"), 100)
	f.Add([]byte(greeting+"-ERR\r\n$EOF:"+id+"\r\nREDIS"+id), 1)
	f.Add([]byte("-NOAUTH\r\n-x\r\n\n\n-y\r\n-LOADING\r\n"), 7)
	f.Fuzz(func(t *testing.T, says []byte, step int) {
		r := &steps{bytes.NewReader(says), 1 + abs(step)%5000}
		c, _ := talk(r)
		log, _ := quiet(t)
		a, err := c.Handshake(Hello{ID: id}, log)
		if err != nil {
			return
		}
		if a.Kind == Full {
			require.Len(t, a.ID, idLen)
			require.GreaterOrEqual(t, a.Offset, int64(0))
		}
		if a.Kind == Continue {
			require.True(t, bytes.HasSuffix(says, append(c.Rest(), rest(t, r)...)))
			return
		}
		p, err := c.Payload()
		if err != nil {
			return
		}
		b, err := io.ReadAll(p)
		if err == nil {
			require.Contains(t, string(says), string(b))
			require.True(t, bytes.HasSuffix(says, append(c.Rest(), rest(t, r)...)))
		}
	})
}

func abs(n int) int { return max(n, -n, 0) }

// steps reads at most n bytes at a time.
type steps struct {
	*bytes.Reader
	n int
}

func (s *steps) Read(b []byte) (int, error) { return s.Reader.Read(b[:min(len(b), s.n)]) }

func rest(t *testing.T, r *steps) []byte {
	t.Helper()
	b, err := io.ReadAll(r.Reader)
	require.NoError(t, err)
	return b
}
