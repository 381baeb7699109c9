// Command luadiff compares how two engines run Lua programs. It makes the programs with a grammar
// (internal/lua/luagen), runs each on both, and prints those that return different things, made
// small. It exits with 1 when there are any.
//
//	go run ./integration/luadiff -n 1000000 -seed 7
//	go run ./integration/luadiff -judge redis8 -tested server -n 20000
//
// The judges are lua51, Lua's own implementation, and the servers redis8 and redis7. (Valkey 9 lays
// out its tables in another order.) What is tested is host, Godwit's scripts within this process,
// or server, Godwit's server. No difference is excused: programs avoid what is known to differ,
// which the snippets in testdata/manual tell.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"godwit/integration/luadiff/compare"
	"godwit/internal/lua/luagen"
	"godwit/internal/testserver"
)

func main() {
	code, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "luadiff:", err)
		code = 2
	}
	os.Exit(code)
}

// settings holds the options of the command line.
type settings struct {
	n, first, workers, most int
	seed                    uint64
	judge, tested           string
	show                    bool
}

func parseFlags(args []string) (s settings, err error) {
	fs := flag.NewFlagSet("luadiff", flag.ContinueOnError)
	fs.IntVar(&s.n, "n", 100_000, "programs to run")
	fs.Uint64Var(&s.seed, "seed", uint64(time.Now().UnixNano()%1e9), "seed of the programs")
	fs.IntVar(&s.first, "first", 0, "number of the first program")
	fs.IntVar(&s.workers, "workers", 2, "programs that run at the same time")
	fs.IntVar(&s.most, "max", 10, "stop after that many classes of differences")
	fs.StringVar(&s.judge, "judge", "lua51", "lua51, redis8 or redis7")
	fs.StringVar(&s.tested, "tested", "host", "host, server, or one of the judges")
	fs.BoolVar(&s.show, "show", false, "print the programs and what the judge returns for them")
	return s, fs.Parse(args)
}

func run(args []string) (int, error) {
	s, err := parseFlags(args)
	if err != nil {
		return 2, err
	}
	var o openers
	defer o.close()
	defer testserver.RemoveBuilds()
	session := &session{settings: s, begin: time.Now(), classes: map[string]bool{}}
	pairs := make([]compare.Pair, s.workers)
	for i := range pairs {
		pairs[i].Judge, err = o.open(s.judge)
		if errors.Is(err, compare.ErrMissing) && os.Getenv("CI") == "" {
			fmt.Println("skipped:", err)
			return 0, nil
		}
		if err != nil {
			return 2, err
		}
		if pairs[i].Tested, err = o.open(s.tested); err != nil {
			return 2, err
		}
	}
	var wg sync.WaitGroup
	for _, p := range pairs {
		wg.Go(func() { session.work(p) })
	}
	wg.Wait()
	fmt.Printf("%d programs, seed %d, %s: %d differences in %d classes\n", session.done, s.seed,
		time.Since(session.begin).Round(time.Second), session.found, len(session.classes))
	return min(session.found, 1), session.err
}

// session is what the workers share.
type session struct {
	settings
	begin time.Time

	sync.Mutex
	next, done, found int
	classes           map[string]bool
	err               error
}

// batch is how many programs a worker runs between looks at what others do.
const batch = 64

// take returns the numbers of the next programs, none at the end.
func (s *session) take() (first, n int) {
	s.Lock()
	defer s.Unlock()
	if s.err != nil || len(s.classes) >= s.most {
		return 0, 0
	}
	first, n = s.first+s.next, min(batch, s.n-s.next)
	s.next += n
	if s.next%(1000*batch) == 0 {
		fmt.Fprintf(os.Stderr, "%d programs, %s\n", s.next,
			time.Since(s.begin).Round(time.Second))
	}
	return first, n
}

func (s *session) work(p compare.Pair) {
	for {
		first, n := s.take()
		if n == 0 {
			return
		}
		programs := make([]string, n)
		for i := range programs {
			programs[i] = luagen.Program(rand.New(rand.NewPCG(s.seed, uint64(first+i))))
		}
		found, err := p.Check(programs...)
		if s.show {
			results, _ := p.Judge.Run(programs...)
			for i, r := range results {
				fmt.Printf("%s\n--- %d\n%s\n\n", luagen.Body(programs[i]), first+i, r)
			}
		}
		s.Lock()
		s.done += n
		if err != nil && s.err == nil {
			s.err = err
		}
		s.Unlock()
		for _, d := range found {
			s.report(p, d, first+d.Number)
		}
	}
}

// report prints the difference that the program of a number makes, if it is the first of its
// class.
func (s *session) report(p compare.Pair, d compare.Difference, number int) {
	s.Lock()
	s.found++
	class := d.Class()
	known := s.classes[class] || len(s.classes) >= s.most
	s.classes[class] = true
	s.Unlock()
	if known {
		return
	}
	d = p.Shrink(d)
	s.Lock()
	defer s.Unlock()
	fmt.Printf("-- program %d\n%s\n", number, d)
}
