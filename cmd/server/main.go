// Command server is godwit-server: it reads the configuration, puts the parts together and obeys
// signals.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"godwit/internal/command"
	"godwit/internal/config"
	"godwit/internal/crash"
	"godwit/internal/engine"
	"godwit/internal/logging"
	"godwit/internal/proctitle"
	"godwit/internal/server"
	"godwit/internal/vfs"
)

func main() {
	proctitle.Take() // before anything else looks at the arguments
	args := os.Args[1:]
	if code, done := tool(args); done {
		os.Exit(code)
	}
	os.Exit(run(args))
}

// run is the life of the process. It returns the exit code. It has reported all errors, in the log
// once there is one.
func run(args []string) int {
	stdin := server.ReplayableStdin()
	cfg, err := config.Load(args, stdin)
	if err != nil {
		return fail(config.Fatal(err, "Godwit "+engine.Version))
	}
	if cfg.Daemonize && cfg.Supervised == config.SupervisedNo && !server.InBackground() {
		if err := server.StartInBackground(stdin); err != nil {
			return fail("Can't start in the background: " + logging.OSError(err) + "\n")
		}
		return 0
	}
	server.SetTitle(cfg, os.Args[0])
	if err := os.Chdir(cfg.Dir); err != nil {
		return fail(fmt.Sprintf("Can't chdir to '%s': %s\n", cfg.Dir, logging.OSError(err)))
	}
	log, err := logging.New(logging.Options{
		Level: cfg.LogLevel, File: cfg.LogFile, Format: cfg.LogFormat, Stamp: cfg.LogStamp,
		Syslog: cfg.SyslogEnabled, Ident: cfg.SyslogIdent, Facility: cfg.SyslogFacility,
	})
	if err != nil {
		return fail(err.Error() + "\n")
	}
	defer log.Close()
	crash.Follow(cfg.LogFile)
	server.Hello(log, cfg, len(args) > 0, os.Args[0])
	log.SetRole(logging.Primary)
	return serve(cfg, log)
}

// silentLoad is how long a load may take before clients are answered LOADING. With a small data set
// nobody ever is, as with Redis, which looks at its clients only now and then while it loads.
const silentLoad = 200 * time.Millisecond

// serve loads the data set and answers clients until the process ends. It returns the exit code.
func serve(cfg *config.Config, log *logging.Logger) int {
	table, err := table(cfg)
	if err != nil {
		return fail(config.Fatal(err, "Godwit "+engine.Version))
	}
	options := server.Options{OwnProcessors: server.TuneRuntime(cfg)}
	debug.FreeOSMemory()               // what is left of reading the configuration
	signals := make(chan os.Signal, 8) // before a client can take the server for started
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE, syscall.SIGXFSZ) // XFSZ becomes a write error
	eng := engine.New(cfg, table, engine.Options{Log: log})
	crash.Report(crash.Reporter{Write: log.Report, Facts: eng.CrashFacts})
	defer crash.Guard("main")()
	if err := eng.LoadUsers(); err != nil {
		log.Warning("%s", err)
		return fail(config.Fatal(err, "Godwit "+engine.Version))
	}
	store := eng.NewStore(vfs.OS())
	eng.BeginLoading(0) // before the first client can ask
	srv, err := server.New(eng, options)
	if err != nil {
		log.Warning("Failed creating the event loop. Error message: '%s'", err)
		return 1
	}
	srv.Mode()
	if srv.Prepare() != nil {
		return 1
	}
	if srv.OpenCluster() != nil || srv.Listen() != nil {
		srv.RemovePidFile()
		return 1
	}
	log.Warning("Server initialized")
	go srv.Obey(signals)
	opened := make(chan struct{})
	go func() {
		defer crash.Guard("loading the data set")()
		if err := store.Open(srv.Running); err != nil {
			srv.Fail(err)
		}
		close(opened)
	}()
	select {
	case <-opened:
	case <-time.After(silentLoad):
	}
	if err := srv.Run(); err != nil {
		log.Warning("%s", err)
		srv.RemovePidFile()
		return 1
	}
	store.Close()
	srv.Again()
	return 0
}

func fail(msg string) int {
	fmt.Fprint(os.Stderr, msg)
	return 1
}

// table returns the command table with the configuration's renames.
func table(cfg *config.Config) (*engine.Table, error) {
	t := command.Table()
	for _, r := range cfg.Renames {
		if err := t.Rename(r.From, r.To); err != nil {
			return nil, &config.LineError{Source: r.Source, Line: r.Line, Text: r.Text,
				Reason: err.Error()}
		}
	}
	return t, nil
}
