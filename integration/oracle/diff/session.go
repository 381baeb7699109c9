package diff

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"godwit/internal/resp/client"
)

// Options holds the options of a session.
type Options struct {
	N        int    // commands to run
	Seed     uint64 // of the streams
	Round    int    // commands in one round
	First    int    // number of the first round
	Gen      GenConfig
	Families []string // groups of COMMAND DOCS; empty: all
	Only     []string // command names; empty: all
	Without  []string // command names never sent
	RefDocs  bool     // take the commands from the reference server alone
	MaxFinds int      // stop after that many classes of differences
	Save     string   // folder for shrunk streams; empty: do not save
	Shrinks  int      // replays that one shrink may cost
	Verbose  bool
	Log      io.Writer
}

// Finding is a class of differences with its smallest known stream.
type Finding struct {
	Failure
	Stream     []Cmd
	Reproduced bool
	Times      int
	File       string
}

// Session is a run over many rounds.
type Session struct {
	Options
	Runner   *Runner
	Coverage Coverage
	Skipped  []Rule // rules that keep commands out, for the report

	gen      *Generator
	group    map[string]string
	Families map[string]int
	Commands map[string]int
	Ran      int
	Rounds   int // rounds begun
	Crashes  int // rounds that ended with the reference server
	Findings []*Finding
}

// NewSession reads both servers' tables and prepares the streams.
func NewSession(ref, tested *Server, known *Known, o Options) (*Session, error) {
	s := &Session{Options: o, Families: map[string]int{}, Commands: map[string]int{},
		group: map[string]string{}}
	s.Runner = NewRunner(ref, tested, known, o.Gen.DBs)
	refTable, refVersion, which, err := readReference(ref)
	if err != nil {
		return nil, err
	}
	table := refTable
	if !o.RefDocs {
		if table, err = readServer(tested); err != nil {
			return nil, err
		}
	}
	if s.Coverage, err = Match(refTable, table, refVersion, s.keep); err != nil {
		return nil, err
	}
	s.Runner.Common = s.Coverage.Common
	for _, g := range s.Coverage.Grammars {
		s.group[g.Name] = g.Group
	}
	o.Gen.Reference = which
	s.gen, err = NewGenerator(o.Gen, s.Coverage)
	return s, err
}

// keep reports whether a command takes part.
func (s *Session) keep(c *Command) bool {
	rule := s.Runner.Known.Rule(c.Name)
	if rule.Comparator == Skip {
		rule.used = true
		s.Skipped = append(s.Skipped,
			Rule{Pattern: c.Name, Comparator: Skip, Reason: rule.Reason})
		return false
	}
	top, _, _ := strings.Cut(c.Name, "|")
	listed := func(l []string) bool { return slices.Contains(l, c.Name) || slices.Contains(l, top) }
	if listed(s.Without) {
		return false
	}
	if len(s.Options.Only) > 0 {
		return listed(s.Options.Only)
	}
	return len(s.Options.Families) == 0 || slices.Contains(s.Options.Families, c.Group)
}

// Identify asks a server for its name and its version: "redis", "8.0.6".
func Identify(s *Server) (name, version string, err error) {
	c, err := Dial(s.Addr)
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", s.Name, err)
	}
	defer c.Close()
	hello, err := c.Do("HELLO", "3")
	if err != nil || hello.IsErr() {
		return "", "", fmt.Errorf("%s: HELLO 3: %v %w", s.Name, hello, err)
	}
	server, _ := hello.Get("server")
	v, _ := hello.Get("version")
	return server.Str, v.Str, nil
}

// readReference returns the commands of the reference, the version of Redis whose options it has,
// and which one it is.
func readReference(s *Server) (t Table, version string, ref Reference, err error) {
	name, version, err := Identify(s)
	if err != nil {
		return nil, "", "", err
	}
	if ref = ReferenceOf(name, version); ref == Valkey9 {
		version = forked
	}
	t, err = readServer(s)
	return t, version, ref, err
}

// readServer returns the server's commands.
func readServer(s *Server) (Table, error) {
	c, err := Dial(s.Addr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	defer c.Close()
	hello, err := c.Do("HELLO", "3")
	if err != nil || hello.IsErr() {
		return nil, fmt.Errorf("%s: HELLO 3: %v %w", s.Name, hello, err)
	}
	t, err := ReadTable(c)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return t, nil
}

// Run executes rounds until enough commands ran or too many differences were found.
func (s *Session) Run() error {
	defer s.Runner.Close()
	rounds, stop := make(chan []Cmd, 2), make(chan struct{})
	defer close(stop)
	go func() { // generation overlaps with execution
		for r := s.First; ; r++ {
			select {
			case rounds <- s.gen.Stream(s.Seed, r, s.Round):
			case <-stop:
				return
			}
		}
	}()
	for r := s.First; s.Ran < s.N && len(s.Findings) < s.MaxFinds; r++ {
		stream := <-rounds
		if rest := max(s.N-s.Ran, 2); rest < len(stream) {
			if stream = stream[:rest]; !comparable(stream) {
				stream = stream[:rest-1]
			}
		}
		s.Rounds++
		f, n, err := s.Runner.Exec(stream)
		if s.refCrashed(r, err) {
			err = nil
		}
		if err != nil {
			return fmt.Errorf("round %d: %w%s", r, err, s.saveBroken(stream))
		}
		s.count(stream[:min(n, len(stream))])
		if f != nil {
			s.found(r, stream, f)
		}
		if s.Verbose && r%20 == 19 {
			fmt.Fprintf(s.Log, "round %d: %d commands, %d classes of differences\n", r+1, s.Ran,
				len(s.Findings))
		}
	}
	return s.tooManyCrashes()
}

const (
	// mostCrashes is how many rounds the reference server may leave unfinished by its own faults.
	mostCrashes = 100
	// fewCrashes and crashShare bound how many a run may have that counts: that many, or one of so
	// many rounds. Of Redis 8.0.6, one of twelve is usual.
	fewCrashes, crashShare = 3, 5
)

// refCrashed reports whether the error of a round is a fault of the reference server. Redis 8.0.6
// crashes now and then when it frees its libraries of functions; the next round starts it again.
// Valkey 9.1.2 sends line breaks within errors of functions.
func (s *Session) refCrashed(round int, err error) bool {
	if err == nil || s.Crashes == mostCrashes {
		return false
	}
	end := error(client.ErrReply)
	if !errors.Is(err, client.ErrReply) {
		var dead bool
		if end, dead = s.Runner.refEnds(); !dead {
			return false
		}
	}
	s.Crashes++
	fmt.Fprintf(s.Log, "round %d of seed %d is not finished: %v\n", round, s.Seed, end)
	return true
}

// tooManyCrashes returns an error if so many rounds are not finished that the others say little.
func (s *Session) tooManyCrashes() error {
	if s.Crashes <= max(fewCrashes, s.Rounds/crashShare) {
		return nil
	}
	return fmt.Errorf("%d of %d rounds not finished by faults of the reference server", s.Crashes,
		s.Rounds)
}

// saveBroken saves the stream of a round that could not be finished, and returns its path.
func (s *Session) saveBroken(stream []Cmd) string {
	if s.Save == "" {
		return ""
	}
	path := filepath.Join(os.TempDir(), fmt.Sprintf("oracle-broken-%d.txt", s.Seed))
	if err := WriteCase(path, "the run could not be finished", stream); err != nil {
		return "\n" + err.Error()
	}
	return "\nthe stream is in " + path
}

// count adds executed commands to the statistics.
func (s *Session) count(stream []Cmd) {
	s.Ran += len(stream)
	for _, c := range stream {
		if c.Sleep > 0 || c.Close {
			continue
		}
		if c.Disk != "" {
			s.Families["files"]++
			continue
		}
		name := c.Name()
		if len(c.Args) > 1 && s.group[name] == "" {
			name += "|" + strings.ToLower(string(c.Args[1]))
		}
		group := cmp.Or(s.group[name], "unknown")
		if c.Raw {
			group = "protocol"
		}
		s.Families[group]++
		s.Commands[name]++
	}
}

// found records a difference. It shrinks and saves a new class.
func (s *Session) found(round int, stream []Cmd, f *Failure) {
	for _, old := range s.Findings {
		if old.Class == f.Class {
			old.Times++
			return
		}
	}
	fmt.Fprintf(s.Log, "difference in round %d of seed %d: %s\n", round, s.Seed, f.Class)
	small, last, ok := s.Runner.Shrink(stream, f, s.Shrinks)
	find := &Finding{Failure: *last, Stream: small, Reproduced: ok, Times: 1}
	s.Findings = append(s.Findings, find)
	if s.Save == "" || !ok {
		return
	}
	find.File = filepath.Join(s.Save, fileName(f.Class))
	heading := fmt.Sprintf("%s\nseed %d, round %d\ntheirs: %s\ntested: %s", f.Class, s.Seed, round,
		oneLine(last.A), oneLine(last.B))
	err := os.MkdirAll(s.Save, 0o755)
	if err == nil {
		err = WriteCase(find.File, heading, small)
	}
	if err != nil {
		fmt.Fprintf(s.Log, "cannot save the stream: %v\n", err)
		find.File = ""
	}
}

func oneLine(s string) string { return clip(strings.ReplaceAll(s, "\n", " / "), 400) }

// fileName returns a file name for a class.
func fileName(class string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(class) {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			b.WriteRune(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	s := strings.TrimPrefix(b.String(), "reply-of-")
	return strings.Trim(s[:min(len(s), 80)], "-") + ".txt"
}

// Report writes what ran and what was found.
func (s *Session) Report(w io.Writer) {
	fmt.Fprintf(w,
		"seed %d: %d commands (%.0f%% answered with errors), state compared of %d keys\n", s.Seed,
		s.Ran,
		100*float64(s.Runner.Errors)/float64(max(1, s.Ran)), s.Runner.StateReads)
	for _, name := range slices.Sorted(maps.Keys(s.Families)) {
		fmt.Fprintf(w, "  %-14s %8d\n", name, s.Families[name])
	}
	fmt.Fprintf(w,
		"%d commands generated, %d skipped for a stated reason, %d not sent because redis lacks "+
			"them\n",
		len(s.Coverage.Grammars), len(s.Skipped), len(s.Coverage.Newer))
	if len(s.Coverage.Missing) > 0 {
		fmt.Fprintf(w, "not covered, the tested server lacks them: %s\n",
			strings.Join(s.Coverage.Missing, " "))
	}
	if s.Crashes > 0 {
		fmt.Fprintf(w, "%d rounds not finished by faults of the reference server\n", s.Crashes)
	}
	if s.Verbose {
		for _, r := range s.Skipped {
			fmt.Fprintf(w, "skipped %s: %s\n", r.Pattern, r.Reason)
		}
		for _, r := range s.Runner.Known.Unused() {
			fmt.Fprintf(w, "rule not needed: %s\n", r)
		}
		for _, name := range slices.Sorted(maps.Keys(s.Commands)) {
			fmt.Fprintf(w, "  %-24q %8d\n", clip(name, 22), s.Commands[name])
		}
	}
	fmt.Fprintf(w, "%d classes of differences\n", len(s.Findings))
	for i, f := range s.Findings {
		fmt.Fprintf(w, "\n%d. %s (%d times)\n  theirs: %s\n  tested: %s\n", i+1, f.Class, f.Times,
			f.A, f.B)
		if !f.Reproduced {
			fmt.Fprintf(w,
				"  did not show again when replayed; the stream has %d commands, its last:\n",
				len(f.Stream))
		}
		if f.File != "" {
			fmt.Fprintf(w, "  saved as %s\n", f.File)
		}
		for _, c := range f.Stream[max(0, len(f.Stream)-25):] {
			fmt.Fprintf(w, "    %s\n", clip(c.String(), 400))
		}
	}
}
