package server

import (
	"os"
	"syscall"

	"godwit/internal/config"
	"godwit/internal/engine"
)

// Obey turns signals into a shutdown: the first one into an orderly one, one that comes while that is going on into the end. It never returns.
func (s *Server) Obey(signals <-chan os.Signal) {
	ended := make(chan error, 1)
	busy := false
	for {
		select {
		case err := <-ended:
			busy = err == nil // after a refusal, another signal is another attempt
		case sig := <-signals:
			if busy {
				s.log.Warning("You insist... exiting now.")
				s.eng.RemoveTemporary()
				os.Exit(1)
			}
			busy = true
			name := map[os.Signal]string{syscall.SIGTERM: "SIGTERM", syscall.SIGINT: "SIGINT"}[sig]
			s.log.Warning("Received %s scheduling shutdown...", name)
			go func() { ended <- s.signalled(name) }()
		}
	}
}

// signalled is the shutdown that a signal asked for.
func (s *Server) signalled(name string) error {
	s.eng.Enter()
	defer s.eng.Leave()
	if s.eng.Loading() {
		s.log.Warning("Received shutdown signal during loading, exiting now.")
		s.RemovePidFile()
		os.Exit(0)
	}
	err := s.shutdown(shutdownOptions(s.eng.Cfg, name))
	if err != nil {
		s.log.Warning("%s received but errors trying to shut down the server, check the logs for more information", name)
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
