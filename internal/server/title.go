package server

import (
	"net"
	"strconv"
	"strings"

	"godwit/internal/config"
	"godwit/internal/proctitle"
)

// SetTitle shows what the server is in place of its command line, if the configuration says so: the
// arguments may hold passwords. program is how it was called.
func SetTitle(cfg *config.Config, program string) {
	if cfg.SetProcTitle {
		proctitle.Set(title(cfg, program))
	}
}

// title fills in proc-title-template.
func title(cfg *config.Config, program string) string {
	file := cfg.File
	if file == "" {
		file = "-"
	}
	mode := ""
	if cfg.Cluster.Enabled {
		mode = "[cluster]"
	}
	return strings.TrimRight(strings.NewReplacer(
		"{title}", program, "{listen-addr}", listenAddress(cfg), "{server-mode}", mode,
		"{port}", strconv.Itoa(cfg.Port), "{tls-port}", strconv.Itoa(cfg.TLSPort),
		"{unixsocket}", cfg.UnixSocket, "{config-file}", file,
	).Replace(cfg.ProcTitleTemplate), " ")
}

// listenAddress returns the first address at which clients find the server.
func listenAddress(cfg *config.Config) string {
	port := cfg.Port
	if port == 0 {
		port = cfg.TLSPort
	}
	if port == 0 {
		return "unixsocket:" + cfg.UnixSocket
	}
	host := "*"
	if len(cfg.Bind) > 0 {
		host = strings.TrimPrefix(cfg.Bind[0], "-")
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}
