package testserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"godwit/internal/resp/client"
)

// SentinelOptions say which Sentinels to start, and what they watch.
type SentinelOptions struct {
	Program string // the path of redis-sentinel or valkey-sentinel
	Conf    string // the path of conf/sentinel.conf
	Dir     string // where each gets a folder
	Count   int    // of Sentinels; the quorum is their majority

	Master                     *Server
	DownAfter, FailoverTimeout time.Duration
	// Quick has them ask and tell each other more often than they do by themselves, so that a
	// returned master is made a replica after a second, not ten.
	Quick bool
}

// quickSentinel makes a Sentinel quick. A replica whose INFO is older than five periods of PING is
// not promoted, and it is asked for once a second, so that these may not be shorter. They must be
// far below DownAfter, too.
var quickSentinel = []any{"SENTINEL", "DEBUG", "INFO-PERIOD", 1000, "PUBLISH-PERIOD", 200,
	"PING-PERIOD", 300, "ASK-PERIOD", 100}

// Sentinels are a group of Sentinels that watch a master and its replicas.
type Sentinels struct {
	Servers []*Server
	Name    string // of the group of servers
}

// StartSentinels starts Sentinels with conf/sentinel.conf, in which the addresses and the times are
// replaced. Stop ends them, also after an error.
func StartSentinels(o SentinelOptions) (*Sentinels, error) {
	all := &Sentinels{Name: "mymaster"}
	text, err := os.ReadFile(o.Conf)
	if err != nil {
		return all, err
	}
	for i := range o.Count {
		dir := filepath.Join(o.Dir, fmt.Sprintf("sentinel%d", i+1))
		s, err := o.start(dir, string(text))
		if s != nil {
			all.Servers = append(all.Servers, s)
		}
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// start starts one Sentinel.
func (o SentinelOptions) start(dir, conf string) (*Server, error) {
	port, err := Port()
	if err != nil {
		return nil, err
	}
	host, masterPort := o.Master.HostPort()
	for _, d := range [][2]string{
		{"port", strconv.Itoa(port)},
		{"dir", dir},
		{"sentinel monitor mymaster", fmt.Sprintf("%s %s %d", host, masterPort, o.Count/2+1)},
		{"sentinel down-after-milliseconds mymaster", milliseconds(o.DownAfter)},
		{"sentinel failover-timeout mymaster", milliseconds(o.FailoverTimeout)},
	} {
		line := regexp.MustCompile(`(?m)^` + d[0] + ` .*$`)
		if !line.MatchString(conf) {
			return nil, fmt.Errorf("%s has no %q", o.Conf, d[0])
		}
		conf = line.ReplaceAllString(conf, d[0]+" "+d[1])
	}
	path := filepath.Join(dir, "sentinel.conf")
	if err := errors.Join(os.MkdirAll(dir, 0o755),
		os.WriteFile(path, []byte(conf), 0o644)); err != nil {
		return nil, err
	}
	s, err := Start(Options{Program: o.Program, Dir: dir, Exact: true,
		Args: []string{path, "--port", strconv.Itoa(port)}})
	if err == nil && o.Quick {
		err = s.ok(quickSentinel...)
	}
	return s, err
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// Stop ends the Sentinels as kill -9 does.
func (a *Sentinels) Stop() {
	for _, s := range a.Servers {
		s.Kill()
	}
}

// Addrs returns the Sentinels' addresses.
func (a *Sentinels) Addrs() (addrs []string) {
	for _, s := range a.Servers {
		addrs = append(addrs, s.Addr)
	}
	return addrs
}

// WaitReady waits until every Sentinel knows all others and that many replicas, so that it can take
// part in a failover.
func (a *Sentinels) WaitReady(replicas int) error {
	others := len(a.Servers) - 1
	return a.wait("in touch with all", func(s *Server) bool {
		v, err := s.Do("SENTINEL", "MASTER", a.Name)
		if err != nil {
			return false
		}
		m := map[string]string{}
		for name, value := range named(v) {
			m[name] = value.Text()
		}
		return m["num-slaves"] == strconv.Itoa(replicas) && m["flags"] == "master" &&
			m["num-other-sentinels"] == strconv.Itoa(others) && a.replicasKnown(s)
	})
}

// replicasKnown reports whether a Sentinel has read INFO of every replica, and has found it linked.
func (a *Sentinels) replicasKnown(s *Server) bool {
	v, err := s.Do("SENTINEL", "REPLICAS", a.Name)
	return err == nil && !slices.ContainsFunc(v.Elems, func(r client.Value) bool {
		return named(r)["master-link-status"].Text() != "ok"
	})
}

// Master returns the address that a Sentinel gives for the master.
func (a *Sentinels) Master(s *Server) (string, error) {
	v, err := s.Do("SENTINEL", "GET-MASTER-ADDR-BY-NAME", a.Name)
	return strings.Join(v.Strings(), ":"), err
}

func (a *Sentinels) wait(what string, ok func(s *Server) bool) error {
	end := time.Now().Add(Patience)
	for _, s := range a.Servers {
		for !ok(s) {
			if time.Now().After(end) || s.Ended() {
				return fmt.Errorf("the Sentinel at %s is not %s:\n%s", s.Addr, what, s.Tail())
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	return nil
}
