package server

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/evloop"
	"godwit/internal/logging"
)

// reservedDescriptors are for all that is not a client: a loop, listeners, logs, data files.
const reservedDescriptors = 32

// defaultPidFile is where a server in the background writes its process number by default.
const defaultPidFile = "/var/run/redis.pid"

// VersionLine returns the answer to --version, in the form of redis-server's.
func VersionLine() string {
	b := engine.ReadBuild()
	return fmt.Sprintf("Godwit server v=%s sha=%s:%d malloc=arena bits=%d build=%s", engine.Version,
		b.Sha(), b.Dirty, strconv.IntSize, b.ID())
}

// Hello writes the first lines of the log.
func Hello(log *logging.Logger, cfg *config.Config, configured bool, program string) {
	b := engine.ReadBuild()
	log.Warning("oO0OoO0OoO0Oo Godwit is starting oO0OoO0OoO0Oo")
	log.Warning("Godwit version=%s, bits=%d, commit=%s, modified=%d, pid=%d, just started",
		engine.Version, strconv.IntSize, b.Sha(), b.Dirty, os.Getpid())
	if configured {
		log.Warning("Configuration loaded")
	} else {
		log.Warning("Warning: no config file specified, using the default config. "+
			"In order to specify a config file use %s /path/to/godwit.conf", program)
	}
	for _, w := range cfg.Warnings() {
		log.Warning("%s", w)
	}
}

// Prepare raises the limit of descriptors, writes the file with the process number and removes what
// debugging sessions have left behind. It has logged the errors that it returns.
func (s *Server) Prepare() error {
	if err := s.fitDescriptors(); err != nil {
		return err
	}
	removeDeadFolders(s.log)
	cfg := s.eng.Cfg
	s.pidFile = cfg.PidFile
	if s.pidFile == "" && cfg.Daemonize {
		s.pidFile = defaultPidFile
	}
	if s.pidFile != "" {
		if err := os.WriteFile(s.pidFile, []byte(strconv.Itoa(os.Getpid())+"\n"),
			0o644); err != nil {
			s.log.Warning("Failed to write PID file: %s", logging.OSError(err))
			s.pidFile = ""
		}
	}
	return nil
}

// reserved returns how many descriptors are not for clients: reservedDescriptors, and more if there
// are several loops.
func (s *Server) reserved() int {
	return reservedDescriptors + evloop.Descriptors*max(len(s.loops)-1, 0)
}

// fitDescriptors raises the limit of descriptors for maxclients, or lowers maxclients to fit.
func (s *Server) fitDescriptors() error {
	cfg := s.eng.Cfg
	reserved := s.reserved()
	want := uint64(cfg.MaxClients + reserved)
	before, _ := raiseDescriptors(0)
	got, err := raiseDescriptors(want)
	if got >= want {
		if got > before {
			s.log.Notice(
				"Increased maximum number of open files to %d (it was originally set to %d).", got,
				before)
		}
		return nil
	}
	if got <= uint64(reserved) {
		s.log.Warning("Your current 'ulimit -n' of %d is not enough for the server to start. "+
			"Please increase your open file limit to at least %d. Exiting.", before, want)
		return errors.New("not enough descriptors")
	}
	cfg.MaxClients = int(got) - reserved
	s.log.Warning("You requested maxclients of %d requiring at least %d max file descriptors.",
		want-uint64(reserved), want)
	if err != nil {
		s.log.Warning("Server can't set maximum open files to %d because of OS error: %s.", want,
			logging.OSError(err))
	}
	s.log.Warning(
		"Current maximum open files is %d. maxclients has been reduced to %d to compensate for "+
			"low ulimit. "+
			"If you need higher maxclients increase 'ulimit -n'.", got, cfg.MaxClients)
	return nil
}

// Running joins the cluster, logs that the server is open for clients, and tells the supervisor.
// The executor must be held.
func (s *Server) Running() {
	if err := s.joinCluster(); err != nil {
		s.log.Warning("%s", err)
		s.Fail(err)
		return
	}
	for _, l := range s.listeners {
		if l.kind == kindUnix {
			s.log.Notice("Ready to accept connections unix %s", l.addr)
		}
	}
	for _, kind := range []listenerKind{kindTCP, kindTLS} {
		for _, l := range s.listeners {
			if l.kind == kind {
				s.log.Notice("Ready to accept connections %s", kind)
				break
			}
		}
	}
	s.tellSupervisor("STATUS=Ready to accept connections\nREADY=1\n")
}

// tellSupervisor calls notifySystemd if the server is supervised.
func (s *Server) tellSupervisor(msg string) {
	if mode := s.eng.Cfg.Supervised; mode == config.SupervisedSystemd ||
		mode == config.SupervisedAuto {
		s.notifySystemd(msg)
	}
}

// notifySystemd sends a message to the supervisor, if there is one.
func (s *Server) notifySystemd(msg string) {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		if s.eng.Cfg.Supervised == config.SupervisedSystemd {
			s.log.Warning(
				"systemd supervision requested or auto-detected, but NOTIFY_SOCKET not found")
		}
		return
	}
	if strings.HasPrefix(path, "@") {
		path = "\x00" + path[1:] // the abstract name space
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		s.log.Warning("systemd supervision error: %s", logging.OSError(err))
		return
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(msg)); err != nil {
		s.log.Warning("systemd supervision error: %s", logging.OSError(err))
	}
}

// Shutdown ends the service in order, as SHUTDOWN does. Any goroutine may call it.
func (s *Server) Shutdown(o engine.ShutdownOptions) error {
	s.eng.EnterBetween()
	defer s.eng.Release()
	return s.shutdown(o)
}

// shutdown does what Shutdown does, for callers that hold the executor. Run returns soon after it,
// unless the shutdown waits for replicas (engine.ShutdownWaits).
//
// The leader of a cluster leads until it has handed its own shard over: it knows which leases last,
// and a new leader may have to wait for them.
func (s *Server) shutdown(o engine.ShutdownOptions) error {
	if s.stopping.Load() {
		return nil
	}
	if !s.eng.ShutdownWaits() {
		s.log.Warning("User requested shutdown...")
		s.tellSupervisor("STOPPING=1\n")
	}
	waits, err := s.eng.AwaitReplicas(o)
	if waits {
		return nil
	}
	if err == nil {
		s.resignCluster()
		err = s.eng.FinishData(o, func() {
			s.tellSupervisor("STATUS=Saving the final RDB snapshot\n")
		})
	}
	if err != nil {
		s.tellSupervisor("STATUS=" + err.Error() + "\n")
		s.log.Warning("Errors trying to shut down the server. Check the logs for more information.")
		return err
	}
	s.eng.End()
	s.debugging.kill()
	s.RemovePidFile()
	for _, l := range s.listeners {
		_ = l.ln.Close()
		if l.kind == kindUnix && !l.given {
			s.log.Notice("Removing the unix socket file.")
			if err := os.Remove(l.addr); err != nil {
				s.log.Warning("Error removing the unix socket file: %s", logging.OSError(err))
			}
		}
	}
	s.stop()
	s.log.Warning("Godwit is now ready to exit, bye bye...")
	return nil
}

// RemovePidFile removes the file with the process number, if this server wrote one.
func (s *Server) RemovePidFile() {
	if s.pidFile == "" {
		return
	}
	s.log.Notice("Removing the pid file.")
	_ = os.Remove(s.pidFile) // it is only a hint
	s.pidFile = ""
}
