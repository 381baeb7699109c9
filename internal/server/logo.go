package server

import (
	"fmt"
	"os"
	"strconv"

	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/logging"
)

// logo is a godwit, wading. It is filled in with version, commit, mode, port and process number.
const logo = `
                  .--.
                 ( o  )------------------------.
                  \  /'------------------------'
                   ||            Godwit %s (%s) %d bit
      .--------.___/ |
   .-'   .-'  .-'   |            Running in %s mode
  /__.--'__.-'     /             Port: %d
  '--.__          /              PID: %d
        '-.____.-'
            | |
            | |
   ~ ~ ~ ~ ~|~|~ ~ ~ ~ ~ ~ ~ ~ ~

`

// Mode logs the server's mode: by the logo if the log goes to a terminal, or always-show-logo asks
// for it.
func (s *Server) Mode() {
	cfg := s.eng.Cfg
	port := cfg.Port
	if port == 0 {
		port = cfg.TLSPort
	}
	mode := "standalone"
	if cfg.Cluster.Enabled {
		mode = "cluster"
	}
	if cfg.AlwaysShowLogo || toTerminal(cfg) {
		b := engine.ReadBuild()
		s.log.Picture(logging.Notice, fmt.Sprintf(logo, engine.Version, b.Sha(), strconv.IntSize,
			mode, port, os.Getpid()))
		return
	}
	s.log.Notice("Running mode=%s, port=%d.", mode, port)
}

func toTerminal(cfg *config.Config) bool {
	if cfg.SyslogEnabled || cfg.LogFile != "" {
		return false
	}
	info, err := os.Stdout.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
