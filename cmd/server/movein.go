package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"godwit/internal/config"
	"godwit/internal/engine"
	"godwit/internal/movein"
	"godwit/internal/server"
)

const moveInUsage = `Usage: godwit-server --move-in SOURCE TARGET [--cutover|--cancel] [option ...]

SOURCE is the host:port of a node of a cluster of Redis or Valkey, TARGET that of a node of a
cluster of Godwit that is empty. Each shard of the source gets a master of the target, which follows
it until the slots are handed over. Until then the source is as it was, and the target takes no
writes.

       --cutover            hand the slots over as soon as the target is in step
       --cancel             end the following, and empty the target's masters
       --force              with --cancel, also if a run was killed while it gave them the slots;
                            it must not be at work any more
       --from-user NAME     user and password at the source, also for the target's nodes there:
       --from-pass PASSWORD or in the environment, MOVE_IN_FROM_PASS
       --to-user NAME       user and password at the target
       --to-pass PASSWORD   or in the environment, MOVE_IN_TO_PASS
       --from-tls           connect to the source with TLS; the target's nodes do so, too
       --to-tls             connect to the target with TLS
       --cert FILE --key FILE --cacert FILE
                            certificate and authorities for TLS
       --hold SECONDS       how long writers of the source may wait, 15 unless set
       --patience SECONDS   how long something may be wrong before all is undone, 60 unless set
       --sample N           keys of each shard whose values are compared, 300 unless set

Without --cutover it shows how far the target is until it is interrupted, and the target goes on.
The exit code is 0 if what was asked for has been done.
`

// moveIn moves a cluster in. It returns the exit code.
func moveIn(args []string) int {
	o := movein.Options{Hold: 15 * time.Second, Patience: time.Minute, Sample: 300, Out: os.Stdout}
	o.From.Password, o.To.Password = os.Getenv("MOVE_IN_FROM_PASS"), os.Getenv("MOVE_IN_TO_PASS")
	cfg := config.Default()
	if len(args) == 1 && args[0] == "--help" {
		fmt.Print(moveInUsage)
		return 0
	}
	cancel, ok := moveInArgs(args, &o, cfg)
	if !ok {
		fmt.Fprint(os.Stderr, moveInUsage)
		return 1
	}
	o.Dial = func(addr string, tls bool) (net.Conn, error) {
		return server.Dial(engine.DialOptions{Addr: addr, TLS: tls, Timeout: 5 * time.Second}, cfg)
	}
	var err error
	if cancel {
		err = movein.Cancel(o)
	} else {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		err = movein.Run(ctx, o)
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, movein.ErrLeft) && !o.Cutover:
		fmt.Println(err)
		return 0
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// moveInArgs reads the arguments. It reports false if they are no use of the tool.
func moveInArgs(args []string, o *movein.Options, cfg *config.Config) (cancel, ok bool) {
	texts := map[string]*string{
		"--from-user": &o.From.User, "--from-pass": &o.From.Password,
		"--to-user": &o.To.User, "--to-pass": &o.To.Password,
		"--cert": &cfg.TLSCertFile, "--key": &cfg.TLSKeyFile, "--cacert": &cfg.TLSCACertFile,
	}
	switches := map[string]*bool{"--cutover": &o.Cutover, "--cancel": &cancel, "--force": &o.Force,
		"--from-tls": &o.From.TLS, "--to-tls": &o.To.TLS}
	spans := map[string]*time.Duration{"--hold": &o.Hold, "--patience": &o.Patience}
	var places []string
	for ; len(args) > 0; args = args[1:] {
		word := args[0]
		if word == "" || word[0] != '-' {
			places = append(places, word)
			continue
		}
		if flag := switches[word]; flag != nil {
			*flag = true
			continue
		}
		if len(args) == 1 {
			return cancel, false
		}
		n, err := strconv.Atoi(args[1])
		switch {
		case texts[word] != nil:
			*texts[word], err = args[1], nil
		case spans[word] != nil && n > 0:
			*spans[word] = time.Duration(n) * time.Second
		case word == "--sample" && n >= 0:
			o.Sample = n
		default:
			return cancel, false
		}
		if err != nil {
			return cancel, false
		}
		args = args[1:]
	}
	if len(places) != 2 || cancel && o.Cutover || o.Force && !cancel {
		return cancel, false
	}
	o.From.Addr, o.To.Addr = places[0], places[1]
	return cancel, true
}
