// Command benchcluster moves slots with their keys from one master to another, and measures how
// long that takes, and what clients of other keys notice. It does so for Redis by redis-cli's
// reshard, key by key, and for Valkey and Godwit by CLUSTER MIGRATESLOTS, as a whole.
//
//	go run ./integration/benchcluster
//	go run ./integration/benchcluster -mb 200 -servers godwit,valkey9 -runs 3
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"godwit/internal/testserver"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := bench(ctx, os.Args[1:])
	cancel()
	testserver.RemoveBuilds()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchcluster:", err)
		os.Exit(1)
	}
}

// settings say what to measure.
type settings struct {
	mb    int           // of values that move, in MiB
	value int           // bytes of each
	rate  int           // commands a second of each prober
	idle  time.Duration // how long clients are measured before the move
	runs  int
	args  []string // of each Godwit
}

// bench runs what the command line asks for, and prints a table in Markdown.
func bench(ctx context.Context, args []string) error {
	var s settings
	fs := flag.NewFlagSet("benchcluster", flag.ContinueOnError)
	servers := fs.String("servers", "redis8,valkey9,godwit", "kinds of servers, comma separated")
	fs.IntVar(&s.mb, "mb", 2048, "MiB of values to move")
	fs.IntVar(&s.value, "value", 1024, "bytes of each value")
	fs.IntVar(&s.rate, "rate", 500, "commands a second that each of two probing clients sends")
	fs.DurationVar(&s.idle, "idle", 10*time.Second, "how long they are measured before the move")
	fs.IntVar(&s.runs, "runs", 1, "runs of each kind, in turn")
	out := fs.String("o", "", "a file to write the table to, too")
	more := fs.String("args", "", "arguments of each Godwit, separated by spaces")
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	s.args = strings.Fields(*more)
	var list []result
	for range s.runs {
		for word := range strings.SplitSeq(*servers, ",") {
			r, err := s.run(ctx, testserver.Kind(word))
			if err != nil {
				return fmt.Errorf("%s: %w", word, err)
			}
			fmt.Fprintf(os.Stderr, "%s: %s\n", word, r.String())
			list = append(list, r)
		}
	}
	text := s.table(list)
	fmt.Print(text)
	if *out == "" {
		return nil
	}
	return os.WriteFile(*out, []byte(text), 0o644)
}

// run measures one kind of servers, in a folder that goes with it.
func (s *settings) run(ctx context.Context, k testserver.Kind) (r result, err error) {
	dir, err := os.MkdirTemp("", "benchcluster")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	var args []string
	if k == testserver.Godwit {
		args = s.args
	}
	c, err := testserver.StartCluster(dir, testserver.ClusterOptions{Kind: k, Masters: 2,
		Timeout: 15 * time.Second, Args: args})
	if err != nil {
		c.Close()
		return r, err
	}
	defer c.Close()
	m := &move{settings: s, kind: k, from: c.Master(0), to: c.Master(1)}
	return m.run(ctx)
}
