// Command democluster shows what a cluster does. It starts three masters with a replica each and
// lets clients write all the time. Then slots move to another master, a master is killed, and
// another one is cut off from all others but not from its clients. It prints what happened when,
// and which acknowledged writes are lost. It leaves nothing behind.
//
//	go run ./integration/democluster
//	go run ./integration/democluster -servers godwit,redis8 -ack 1
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"godwit/internal/testserver"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := demo(ctx, os.Args[1:])
	cancel()
	testserver.RemoveBuilds()
	if err != nil {
		fmt.Fprintln(os.Stderr, "democluster:", err)
		os.Exit(1)
	}
}

// settings say what to start.
type settings struct {
	kind    testserver.Kind
	timeout time.Duration // cluster-node-timeout
	args    []string      // of each server
	cli     string        // the path of redis-cli
}

// demo runs what the command line asks for.
func demo(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("democluster", flag.ContinueOnError)
	servers := fs.String("servers", string(testserver.Godwit),
		"kinds of servers, comma separated: godwit, redis8, valkey9")
	timeout := fs.Duration("timeout", time.Second, "cluster-node-timeout")
	ack := fs.Int("ack", 0, "min-replicas-to-ack of each Godwit")
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	cli, err := testserver.Redis.Find("cli")
	if err != nil {
		if cli, err = exec.LookPath("redis-cli"); err != nil {
			return err
		}
	}
	for word := range strings.SplitSeq(*servers, ",") {
		s := settings{kind: testserver.Kind(word), timeout: *timeout, cli: cli}
		if *ack > 0 && s.kind == testserver.Godwit {
			s.args = []string{"--min-replicas-to-ack", strconv.Itoa(*ack)}
		}
		lost, err := s.run(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", word, err)
		}
		if lost > 0 && len(s.args) > 0 {
			return fmt.Errorf("%d writes are lost that a replica had confirmed", lost)
		}
	}
	return nil
}

// run shows a cluster of one kind, in a folder that goes with it.
func (s settings) run(ctx context.Context) (lost int, err error) {
	dir, err := os.MkdirTemp("", "democluster")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeoutCause(ctx, 3*testserver.Patience,
		errors.New("it does not come to an end"))
	defer cancel()
	sh := &show{settings: s, begin: time.Now()}
	sh.say("three masters with a replica each: %s", s.kind)
	sh.Cluster, err = testserver.StartCluster(dir, testserver.ClusterOptions{Kind: s.kind,
		Masters: 3, Replicas: 1, Timeout: s.timeout, Args: s.args, Proxied: true})
	defer sh.Close()
	if err != nil {
		return 0, err
	}
	return sh.run(ctx)
}
