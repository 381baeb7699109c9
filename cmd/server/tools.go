package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"godwit/internal/config"
	"godwit/internal/lua/redislib"
	"godwit/internal/persist"
	"godwit/internal/script"
	"godwit/internal/server"
	"godwit/internal/vfs"
)

const usage = `Usage: godwit-server [/path/to/godwit.conf] [--directive value ...] [-]
       godwit-server -                  read the configuration from standard input
       godwit-server -v or --version
       godwit-server -h or --help
       godwit-server --check-rdb FILE
       godwit-server --check-aof [--fix [-y] | --truncate-to-timestamp SECONDS] FILE|MANIFEST
       godwit-server --move-in HOST:PORT HOST:PORT [--cutover | --cancel] [option ...]
                                        move a cluster of Redis or Valkey into an empty one of
                                        Godwit; --move-in --help lists the options

Examples:
       godwit-server                    start with the defaults, on port 6379
       echo 'maxmemory 128mb' | godwit-server -
       godwit-server /etc/godwit/6379.conf
       godwit-server --port 7777
       godwit-server /etc/godwit.conf --loglevel verbose -
       godwit-server --check-aof --fix appendonlydir/appendonly.aof.manifest
`

// tool runs what the arguments ask for in place of a server, if anything. It returns the exit code.
func tool(args []string) (code int, done bool) {
	if len(args) == 0 {
		return 0, false
	}
	switch {
	case args[0] == "--check-rdb", args[0] == "--check-aof":
		return check(args), true
	case args[0] == "--move-in":
		return moveIn(args[1:]), true
	case args[0] == server.DebugArg && len(args) == 2:
		return debugSession(args[1]), true
	}
	if len(args) > 1 {
		return 0, false
	}
	switch args[0] {
	case "-v", "--version":
		fmt.Println(server.VersionLine())
		return 0, true
	case "-h", "--help":
		fmt.Print(usage)
		return 0, true
	}
	return 0, false
}

// check examines files. The exit code is 0 if a server would start with them.
func check(args []string) int {
	c := persist.Checker{FS: vfs.OS(), Out: os.Stdout, In: os.Stdin, Now: time.Now().UnixMilli(),
		Library: libraries()}
	run, rest := c.RDB, args[1:]
	if args[0] == "--check-aof" {
		run = c.AOF
		for len(rest) > 0 && (rest[0] == "--fix" || rest[0] == "-y") {
			c.Fix, c.Yes = c.Fix || rest[0] == "--fix", c.Yes || rest[0] == "-y"
			rest = rest[1:]
		}
		if len(rest) > 1 && rest[0] == "--truncate-to-timestamp" && !c.Fix {
			var err error
			if c.Until, err = strconv.ParseInt(rest[1], 10, 64); err != nil || c.Until <= 0 {
				fmt.Println("Invalid timestamp, aborting...")
				return 1
			}
			rest = rest[2:]
		}
	}
	if len(rest) != 1 || rest[0] == "" || rest[0][0] == '-' {
		fmt.Fprint(os.Stderr, usage)
		return 1
	}
	if !run(rest[0]) {
		return 1
	}
	return 0
}

// libraries returns a function that loads libraries of functions as a server does.
func libraries() func(code []byte) error {
	num, _ := config.VersionNum(config.CompatVersion)
	options := script.Options{Version: config.CompatVersion, VersionNum: num}
	fs := script.NewFunctions(noServer{}, options, redislib.Open)
	return func(code []byte) error {
		_, err := fs.Load(code, script.LoadOptions{Patient: true})
		return err
	}
}

// noServer is the script.Caller of libraries that are only loaded.
type noServer struct{}

// Call implements script.Caller.
func (noServer) Call([][]byte, int) (reply []byte, refused string) { return nil, "ERR no server" }

// Allowed implements script.Caller.
func (noServer) Allowed([][]byte) (ok, known bool) { return false, false }

// SetRepl implements script.Caller.
func (noServer) SetRepl(int) {}

// Log implements script.Caller.
func (noServer) Log(int, string) {}

// Failed implements script.Caller.
func (noServer) Failed(string, bool) {}

// Interrupt implements script.Caller.
func (noServer) Interrupt() error { return nil }
