//go:build unix

package server

import (
	"os"
	"syscall"
	"time"

	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/logging"
)

// startDir is the folder that the process was started in: its arguments may name files there.
var startDir, _ = os.Getwd() // empty if there is none; then the arguments must be absolute

// restart starts the program again in the same process, with the same arguments. If graceful, the
// configuration and the data set are saved first, and Again does it when Run has returned. The
// executor must be held.
func (s *Server) restart(graceful bool, delay time.Duration) error {
	if !graceful {
		time.Sleep(delay)
		return startAgain(s.log)
	}
	if err := s.eng.RewriteConfig(); err != nil && err != config.ErrNoFile {
		s.log.Warning("Can't restart: %s", err)
		return err
	}
	if err := s.shutdown(engine.ShutdownOptions{}); err != nil {
		return err
	}
	s.again = &delay
	return nil
}

// Again starts the program again after Run has returned, if DEBUG RESTART has asked for it. It
// returns if nobody has, or if it cannot be done.
func (s *Server) Again() {
	if s.again != nil {
		time.Sleep(*s.again)
		_ = startAgain(s.log) // it logs its errors
	}
}

// startAgain returns only if it fails. Then the server goes on, in the folder of its data set.
func startAgain(log *logging.Logger) error {
	self, err := os.Executable()
	folder, _ := os.Getwd() // empty if there is none to come back to
	if err == nil && startDir != "" {
		err = os.Chdir(startDir)
	}
	if err == nil {
		err = syscall.Exec(self, os.Args, os.Environ())
	}
	log.Warning("Can't restart: %s", logging.OSError(err))
	if folder != "" {
		if back := os.Chdir(folder); back != nil {
			log.Warning("Can't chdir to '%s': %s", folder, logging.OSError(back))
		}
	}
	return err
}
