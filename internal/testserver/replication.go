package testserver

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"
)

// Follow makes the server a replica of another one. It returns before the link is up.
func (s *Server) Follow(master *Server) error { return s.FollowAddr(master.Addr) }

// FollowAddr makes the server a replica of the one at an address, which may be a Proxy's.
func (s *Server) FollowAddr(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	return s.ok("REPLICAOF", host, port)
}

// Promote makes a replica a master.
func (s *Server) Promote() error { return s.ok("REPLICAOF", "NO", "ONE") }

// ok sends a command that is answered OK.
func (s *Server) ok(args ...any) error {
	v, err := s.Do(args...)
	if err == nil && v.IsError() {
		err = fmt.Errorf("%v: %s", args, v.Text())
	}
	return err
}

// Info returns the fields of a section of INFO.
func (s *Server) Info(section string) (map[string]string, error) {
	v, err := s.Do("INFO", section)
	if err != nil {
		return nil, err
	}
	if v.IsError() {
		return nil, errors.New(v.Text())
	}
	return Info(v.Text()), nil
}

// InfoInt returns a field of INFO that is a number.
func (s *Server) InfoInt(section, field string) (int64, error) {
	info, err := s.Info(section)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(info[field], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("INFO %s: %s: %w", section, field, err)
	}
	return n, nil
}

// WaitInfo waits until a section of INFO is as wanted. Errors of the connection are waited out too,
// because a server may be about to start. After Patience, or when the process has ended, it returns
// an error that says what was waited for and shows the section.
func (s *Server) WaitInfo(section, what string, ok func(info map[string]string) bool) error {
	var info map[string]string
	var err error
	for end := time.Now().Add(Patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		over := s.Ended()
		if info, err = s.Info(section); err == nil && ok(info) {
			return nil
		}
		if over {
			break
		}
	}
	return fmt.Errorf("%s at %s: not %s (%w):\n%v", s.opts.Program, s.Addr, what,
		errors.Join(errWait, err), info)
}

var errWait = errors.New("waited in vain")

// WaitLink waits until a replica's link to its master is up.
func (s *Server) WaitLink() error {
	return s.WaitInfo("replication", "linked to a master", linked)
}

func linked(info map[string]string) bool { return info["master_link_status"] == "up" }

// WaitNoLink waits until a replica has noticed that its link is gone.
func (s *Server) WaitNoLink() error {
	return s.WaitInfo("replication", "without a link", func(info map[string]string) bool {
		return info["role"] == "slave" && info["master_link_status"] != "up"
	})
}

// WaitCaughtUp waits until replicas have everything that the server has now, which is a master or
// itself a replica of the same history.
func (s *Server) WaitCaughtUp(replicas ...*Server) error {
	offset, err := s.InfoInt("replication", "master_repl_offset")
	if err != nil {
		return err
	}
	for _, r := range replicas {
		what := fmt.Sprintf("at offset %d", offset)
		err := r.WaitInfo("replication", what, func(info map[string]string) bool {
			at, err := strconv.ParseInt(info["slave_repl_offset"], 10, 64)
			return err == nil && at >= offset && linked(info)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// WaitSame waits until each replica has caught up and shows the same data as the server. Keys whose
// deadlines pass while they are compared are looked at again.
func (s *Server) WaitSame(replicas ...*Server) error {
	if err := s.WaitCaughtUp(replicas...); err != nil {
		return err
	}
	for _, r := range replicas {
		var diff string
		for try := range 4 {
			time.Sleep(time.Duration(try*try) * 50 * time.Millisecond)
			var err error
			if diff, err = Differences(s, r); err != nil {
				return err
			}
			if diff == "" {
				break
			}
			if err := s.WaitCaughtUp(r); err != nil {
				return err
			}
		}
		if diff != "" {
			return fmt.Errorf("%s at %s and its replica %s at %s differ:\n%s", s.opts.Program,
				s.Addr, r.opts.Program, r.Addr, diff)
		}
	}
	return nil
}

// HostPort returns the two parts of the server's address.
func (s *Server) HostPort() (host, port string) {
	host, port, _ = net.SplitHostPort(s.Addr)
	return host, port
}
