// Command demoha shows a failover. It starts three servers and three Sentinels, lets clients write,
// kills the master, and prints what happened when, which acknowledged writes are lost, and how long
// it took until a write was accepted again. It leaves nothing behind.
//
//	go run ./integration/demoha
//	go run ./integration/demoha -servers godwit,redis8 -runs 50
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
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
		fmt.Fprintln(os.Stderr, "demoha:", err)
		os.Exit(1)
	}
}

// demo runs what the command line asks for.
func demo(ctx context.Context, args []string) error {
	s := defaults()
	fs := flag.NewFlagSet("demoha", flag.ContinueOnError)
	servers := fs.String("servers", string(testserver.Godwit),
		"kinds of servers, comma separated: godwit, redis7, redis8, valkey9")
	sentinels := fs.String("sentinels", string(testserver.Redis7), "whose Sentinels watch them")
	runs := fs.Int("runs", 1, "failovers of each kind")
	ack := fs.Int("ack", 0, "min-replicas-to-ack of each Godwit")
	fs.BoolVar(&s.freeze, "freeze", false, "stop the master with SIGSTOP instead of killing it")
	fs.StringVar(&s.conf, "conf", s.conf, "the Sentinels' configuration")
	fs.BoolVar(&s.quick, "quick", false, "let the Sentinels ask and tell more often")
	fs.DurationVar(&s.pause, "pause", s.pause, "how long each writer rests between two writes")
	fs.DurationVar(&s.downAfter, "down-after", s.downAfter, "Sentinel's down-after-milliseconds")
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	s.sentinels = testserver.Kind(*sentinels)
	for word := range strings.SplitSeq(*servers, ",") {
		s.kind, s.args = testserver.Kind(word), nil
		if *ack > 0 && s.kind == testserver.Godwit {
			s.args = []string{"--min-replicas-to-ack", strconv.Itoa(*ack)}
		}
		var all []result
		for run := range *runs {
			r, err := s.once(ctx)
			if *runs == 1 || err != nil {
				r.print()
			}
			if err != nil {
				return fmt.Errorf("%s, run %d: %w", word, run+1, err)
			}
			all = append(all, r)
		}
		if lost := summarize(word, all); lost > 0 && len(s.args) > 0 {
			return fmt.Errorf("%d writes are lost that a replica had confirmed", lost)
		}
	}
	return nil
}

// once runs one failover in a folder that goes with it.
func (s settings) once(ctx context.Context) (result, error) {
	dir, err := os.MkdirTemp("", "demoha")
	if err != nil {
		return result{}, err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeoutCause(ctx, 2*testserver.Patience,
		errors.New("it does not come to an end"))
	defer cancel()
	g, err := startGroup(s, dir)
	defer g.stop()
	if err != nil {
		return result{}, err
	}
	return g.run(ctx)
}

// print prints the timeline of one failover.
func (r *result) print() {
	for _, e := range r.events {
		fmt.Printf("t%+7d ms  %s\n", e.at.Milliseconds(), e.what)
	}
	fmt.Println()
}

// summarize prints what failovers of a kind have cost, and returns how many acknowledged writes are
// lost.
func summarize(kind string, all []result) (lost int) {
	var until []time.Duration
	acked, failed, lossy := 0, 0, 0
	for _, r := range all {
		until = append(until, r.until)
		acked, failed, lost = acked+r.acked, failed+r.failed, lost+len(r.lost)
		if len(r.lost) > 0 {
			lossy++
		}
	}
	slices.Sort(until)
	ms := func(i int) int64 { return until[i].Milliseconds() }
	fmt.Printf("%s: %d failover(s), %d writes acknowledged, %d refused or unanswered, "+
		"%d acknowledged ones lost (in %d runs); first accepted write after %d ms (median), "+
		"%d to %d ms\n", kind, len(all), acked, failed, lost, lossy, ms(len(until)/2), ms(0),
		ms(len(until)-1))
	return lost
}
