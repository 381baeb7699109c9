package compare

import (
	"errors"
	"strings"
	"time"

	"godwit/internal/lua/redislib"
	"godwit/internal/resp"
	"godwit/internal/resp/client"
	"godwit/internal/script"
)

// nobody is a server that runs no commands and ends programs that take too long.
type nobody struct{ until time.Time }

func (*nobody) Call([][]byte, int) ([]byte, string) { return nil, "ERR no commands" }
func (*nobody) Allowed([][]byte) (bool, bool)       { return false, false }
func (*nobody) SetRepl(int)                         {}
func (*nobody) Log(int, string)                     {}
func (*nobody) Failed(string, bool)                 {}

func (n *nobody) Interrupt() error {
	if time.Now().After(n.until) {
		return errors.New(Timeout)
	}
	return nil
}

// NewHost returns Godwit's scripts within this process.
func NewHost() Engine {
	c := &nobody{}
	h := script.NewHost(c, script.Options{Version: "8.0.0"}, redislib.Open)
	return Func(func(program string) string {
		c.until = time.Now().Add(patience)
		sc, err := h.Load([]byte(program), false)
		if err != nil {
			return plainError("ERR " + err.Error())
		}
		var w resp.Writer
		h.Run(sc, nil, nil, &w)
		v, _, err := client.Parse(w.Buf)
		switch {
		case err != nil:
			return "crash: " + err.Error()
		case v.IsError() && strings.Contains(v.Text(), Timeout):
			return Timeout
		}
		return plain(v)
	})
}
