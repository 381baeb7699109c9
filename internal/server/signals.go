package server

import (
	"os"
	"syscall"

	"godwit/internal/config"
	"godwit/internal/crash"
	"godwit/internal/engine"
)

// Obey turns signals into an orderly shutdown. While one is going on, further signals change
// nothing, except that SIGINT insists: the process ends at once, without saving. After a shutdown
// was refused, another signal tries again. Obey never returns.
func (s *Server) Obey(signals <-chan os.Signal) {
	defer crash.Guard("waiting for signals")()
	ended := make(chan error, 1)
	busy := false
	for {
		select {
		case <-ended:
			busy = false
		case sig := <-signals:
			if !busy && !s.stopping.Load() && !s.eng.ShutdownWaits() {
				busy = true
				name := signalNames[sig]
				s.log.Warning("Received %s scheduling shutdown...", name)
				go func() {
					defer crash.Guard("ending the server")()
					ended <- s.signalled(name)
				}()
			} else if sig == syscall.SIGINT {
				s.log.Warning("You insist... exiting now.")
				s.eng.RemoveTemporary()
				os.Exit(1)
			}
		}
	}
}

var signalNames = map[os.Signal]string{syscall.SIGTERM: "SIGTERM", syscall.SIGINT: "SIGINT"}

// signalled does the shutdown that a signal asked for. It waits for the end of a busy script,
// because half of a script's work must not be saved.
func (s *Server) signalled(name string) error {
	s.eng.EnterBetween()
	defer s.eng.Release()
	if s.eng.Loading() {
		s.log.Warning("Received shutdown signal during loading, exiting now.")
		s.RemovePidFile()
		os.Exit(0)
	}
	err := s.shutdown(shutdownOptions(s.eng.Cfg, name))
	if err != nil {
		s.log.Warning(
			"%s received but errors trying to shut down the server, check the logs for more "+
				"information", name)
	}
	return err
}

func shutdownOptions(cfg *config.Config, sig string) engine.ShutdownOptions {
	flags := cfg.ShutdownOnSigterm
	if sig == "SIGINT" {
		flags = cfg.ShutdownOnSigint
	}
	has := func(f config.ShutdownFlags) bool { return flags&f != 0 }
	return engine.ShutdownOptions{
		Save: has(config.ShutdownSave), NoSave: has(config.ShutdownNosave),
		Now: has(config.ShutdownNow), Force: has(config.ShutdownForce), Signal: sig,
	}
}
