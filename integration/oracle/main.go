// Command oracle compares a Godwit server with a real Redis or Valkey. It sends both the same
// random commands, generated from the servers' own COMMAND DOCS, and compares every reply and the
// data. It exits with 1 when they differ.
//
//	go run ./integration/oracle -n 1000000 -seed 7
//	go run ./integration/oracle -redis valkey9 -n 300000
//
// Where versions differ, Redis 8 is right. The files known_differences*.txt say what is not
// compared, or differs all the same, and why; see references.go.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"godwit/integration/oracle/diff"
	"godwit/internal/testserver"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		code = 1
	}
	os.Exit(code)
}

// settings holds the options of the command line.
type settings struct {
	diff.Options
	redis, godwit, godwitAddr string
	replay                    string
}

func parseFlags(args []string) (settings, error) {
	var s settings
	var families, only, without, rounds string
	fs := flag.NewFlagSet("oracle", flag.ContinueOnError)
	fs.IntVar(&s.N, "n", 100_000, "commands to send")
	fs.Uint64Var(&s.Seed, "seed", uint64(time.Now().UnixNano()%1e9), "seed of the streams")
	fs.IntVar(&s.Round, "round", 5000, "commands between resets of both servers")
	fs.IntVar(&s.First, "first", 0,
		"number of the first round: with the seed of a report, its failing round")
	fs.IntVar(&s.Gen.Keys, "keys", 10, "shared keys")
	fs.IntVar(&s.Gen.Clients, "clients", 4, "connections")
	fs.IntVar(&s.Gen.DBs, "dbs", 3, "databases")
	fs.IntVar(&s.Gen.Resp, "resp", 0, "protocol version of all connections; 0 mixes both")
	fs.StringVar(&families, "families", "",
		"command groups, comma separated (connection,string,bitmap,generic,server,…); empty: all")
	fs.StringVar(&only, "only", "", "commands, comma separated; empty: all")
	fs.StringVar(&without, "without", "", "commands to leave out, comma separated")
	fs.StringVar(&rounds, "rounds", "",
		"kinds of rounds, comma separated ("+strings.Join(diff.Kinds(), ",")+
			"); empty: all, mostly plain")
	fs.BoolVar(&s.RefDocs, "refdocs", false,
		"generate from redis's COMMAND DOCS alone, as if Godwit had every command")
	fs.IntVar(&s.MaxFinds, "max", 20, "stop after that many classes of differences")
	fs.IntVar(&s.Shrinks, "shrinks", 400, "replays that shrinking one stream may cost")
	fs.StringVar(&s.Save, "save", "integration/oracle/testdata/regress",
		"folder for shrunk streams; empty: do not save")
	fs.StringVar(&s.redis, "redis", "redis8",
		"the server to compare with: redis8, valkey9, redis7, or a binary")
	fs.StringVar(&s.godwit, "godwit", "", "Godwit server binary; empty: build ./cmd/server")
	fs.StringVar(&s.godwitAddr, "godwit-addr", "",
		"address of a running Godwit server (its data will be deleted)")
	fs.StringVar(&s.replay, "replay", "", "replay one case file instead of random streams")
	fs.BoolVar(&s.Verbose, "v", false, "progress, skipped commands, counts for each command")
	if err := fs.Parse(args); err != nil {
		return s, err
	}
	s.Options.Families, s.Only, s.Without = list(families), list(only), list(without)
	s.Gen.Kinds = list(rounds)
	s.Log = os.Stderr
	return s, diff.CheckKinds(s.Gen.Kinds)
}

func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.ToLower(strings.ReplaceAll(s, " ", "|")), ",")
}

func run(args []string) (int, error) {
	s, err := parseFlags(args)
	if err != nil {
		return 2, err
	}
	if s.redis, err = program(s.redis); err != nil {
		if os.Getenv("CI") == "true" {
			return 1, err
		}
		fmt.Println("skipped: no server to compare with:", err)
		return 0, nil
	}
	dir, err := os.MkdirTemp("", "oracle")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	defer testserver.RemoveBuilds()
	ref, tested, err := startBoth(s, dir)
	defer ref.Stop()
	defer tested.Stop()
	if err != nil {
		return 1, err
	}
	known, err := knownFor(ref)
	if err != nil {
		return 1, err
	}
	if s.replay != "" {
		return replay(s, ref, tested, known)
	}
	return session(s, ref, tested, known)
}

// startBoth starts the two servers. What it returns can be stopped even if it fails.
func startBoth(s settings, dir string) (ref, tested *diff.Server, err error) {
	ref, tested = &diff.Server{}, &diff.Server{}
	if s.godwitAddr != "" {
		tested = diff.AttachServer("godwit", s.godwitAddr)
	} else {
		if s.godwit == "" {
			if s.godwit, err = testserver.Build(); err != nil {
				return ref, tested, err
			}
		}
		// The server starts in a folder of its own.
		if s.godwit, err = filepath.Abs(s.godwit); err != nil {
			return ref, tested, err
		}
		if tested, err = diff.StartServer("godwit", s.godwit, dir); err != nil {
			return ref, tested, err
		}
	}
	ref, err = diff.StartServer("redis", s.redis, dir)
	return ref, tested, err
}

func session(s settings, ref, tested *diff.Server, known *diff.Known) (int, error) {
	begin := time.Now()
	ses, err := diff.NewSession(ref, tested, known, s.Options)
	if err != nil {
		return 1, err
	}
	err = ses.Run()
	ses.Report(os.Stdout)
	fmt.Printf("%.1f s\n", time.Since(begin).Seconds())
	if err != nil || differs(ses.Findings) {
		return 1, err
	}
	return 0, nil
}

// timing is the number of differences that may come from the two servers' clocks: a deadline passes
// on one of them first. The same stream does not show such a difference again. They are reported
// all the same.
const timing = 2

// differs reports whether the findings fail the run.
func differs(findings []*diff.Finding) bool {
	gone := 0
	for _, f := range findings {
		if f.Reproduced {
			return true
		}
		gone += f.Times
	}
	return gone > timing
}

func replay(s settings, ref, tested *diff.Server, known *diff.Known) (int, error) {
	stream, err := diff.ReadCase(s.replay)
	if err != nil {
		return 1, err
	}
	r := diff.NewRunner(ref, tested, known, s.Gen.DBs)
	defer r.Close()
	f, n, err := r.Exec(stream)
	if err != nil {
		return 1, err
	}
	fmt.Printf("%d commands of %s\n", n, s.replay)
	if f != nil {
		fmt.Println(f)
		return 1, nil
	}
	return 0, nil
}
