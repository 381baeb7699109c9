package main

import (
	"os"

	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/logging"
	"godwit/internal/server"
	"godwit/internal/vfs"
)

// debugSession runs one script in a session of the debugger, for a server that has started this
// process: see server.DebugArg. It returns the exit code.
func debugSession(dir string) int {
	cfg, err := config.Load(server.DebugConfig(dir), nil)
	if err != nil {
		return fail(config.Fatal(err, "Godwit "+engine.Version))
	}
	log, err := logging.New(logging.Options{Level: cfg.LogLevel, File: cfg.LogFile,
		Format: cfg.LogFormat, Stamp: cfg.LogStamp})
	if err != nil {
		return fail(err.Error() + "\n")
	}
	defer log.Close()
	session, err := server.NewDebugSession(dir, os.Stdin)
	if err == nil {
		err = runDebugSession(session, cfg, log)
	}
	if err != nil {
		log.Warning("The debugging session ended: %s", logging.OSError(err))
		return 1
	}
	return 0
}

func runDebugSession(d *server.DebugSession, cfg *config.Config, log *logging.Logger) error {
	if err := os.Chdir(cfg.Dir); err != nil {
		return err
	}
	table, err := table(cfg)
	if err != nil {
		return err
	}
	e := engine.New(cfg, table, engine.Options{Log: log})
	if err := e.LoadUsers(); err != nil {
		return err
	}
	store := e.NewStore(vfs.OS())
	e.BeginLoading(0)
	if err := store.Open(func() {}); err != nil {
		return err
	}
	return d.Run(e)
}
