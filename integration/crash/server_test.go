package crash

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"godwit/internal/resp/client"
	"godwit/internal/testserver"
)

const (
	patience    = testserver.Patience
	raceEnabled = testserver.Race
)

func TestMain(m *testing.M) { os.Exit(testserver.Main(m)) }

// process is a running server.
type process struct {
	*testserver.Server
	doors *doors // other ways in than its port; nil: none
	dials atomic.Uint32
}

// start runs the server in dir and waits until it has loaded its data. The binary is GODWIT_BIN or
// Godwit.
func start(dir string, args []string) (*process, error) {
	s, err := testserver.Start(testserver.Options{Dir: dir, Args: args})
	if err != nil {
		return nil, err
	}
	p := &process{Server: s}
	return p, p.persists(args)
}

// persists returns an error if the server keeps no log although it was told to. The test would show
// nothing then.
func (p *process) persists(args []string) error {
	c, err := p.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	v, err := do(c, "INFO", "persistence")
	if err == nil && strings.Contains(strings.Join(args, " "), "appendonly yes") &&
		!strings.Contains(v.Text(), "aof_enabled:1") {
		err = errors.New("the server does not keep a log")
	}
	return err
}

// dial connects to the server, to its port and to each of its doors in turn.
func (p *process) dial() (*client.Client, error) {
	if p.doors != nil {
		if n := int(p.dials.Add(1)) % (1 + len(p.doors.dials)); n > 0 {
			return p.doors.dials[n-1]()
		}
	}
	return p.Dial()
}

// do runs a command that must not fail.
func do(c *client.Client, args ...any) (client.Value, error) {
	v, err := c.Do(args...)
	if err == nil && v.IsError() {
		err = errors.New(v.Text())
	}
	if err != nil {
		err = fmt.Errorf("%.200v: %w", args, err)
	}
	return v, err
}

// probe finds out what the server can do.
func (p *process) probe() (features, error) {
	c, err := p.dial()
	if err != nil {
		return features{}, err
	}
	defer c.Close()
	names := []any{"COMMAND", "INFO", "multi", "eval", "hpexpireat", "bf.insert", "geosearchstore",
		"function", "cf.insertnx", "cms.incrby", "topk.add",
		"tdigest.add", "cl.throttle", "xnack"}
	v, err := do(c, names...)
	if err != nil || len(v.Elems) != len(names)-2 {
		return features{}, fmt.Errorf("COMMAND INFO: %v, %w", v, err)
	}
	known := func(i int) bool { return len(v.Elems[i].Elems) > 0 }
	return features{multi: known(0), script: known(1), fieldTTL: known(2), bloom: known(3),
			geo: known(4), functions: known(5),
			cuckoo: known(6), cms: known(7), topk: known(8), tdigest: known(9),
			throttle: known(10), streams: known(11)},
		nil
}
