package config

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"godwit/internal/object"
)

// This file holds the directives with a grammar of their own.

const maxBind = 16 // addresses that one bind line may hold

// empty reports whether args is the form `name ""`, which some directives take as no value.
func empty(args []string) bool { return len(args) == 1 && args[0] == "" }

func addresses(at func(*Config) *[]string) value {
	show := func(v []string) string { return strings.Join(v, " ") }
	return field[[]string]{codec[[]string]{
		syntax: "up to 16 addresses, each optional with a - before it",
		read: func(args []string, old []string, _ bool) ([]string, error) {
			if empty(args) {
				return nil, nil
			}
			if len(args) > maxBind {
				return old, errManyBind
			}
			for _, a := range args {
				if !plainWord(a) {
					return old, errBindWord
				}
			}
			return append([]string(nil), args...), nil
		},
		show:  show,
		lines: listLine(show),
	}, at}
}

// listLine writes the line of a directive whose words show joins. Without words it is `name ""`.
func listLine[T any](show func(T) string) func(string, T) []string {
	return func(name string, v T) []string {
		words := show(v)
		if words == "" {
			words = `""`
		}
		return []string{name + " " + words}
	}
}

// plainWord reports whether s can stand in a line without quotes.
func plainWord(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] >= 0x7f || strings.IndexByte(`"'\\`, s[i]) >= 0 {
			return false
		}
	}
	return s != ""
}

// savePoints adds up over the lines of one load. An empty line drops the points before it.
func savePoints(at func(*Config) *[]SavePoint) value {
	show := func(v []SavePoint) string {
		words := make([]string, len(v))
		for i, p := range v {
			words[i] = fmt.Sprintf("%d %d", p.Seconds, p.Changes)
		}
		return strings.Join(words, " ")
	}
	return field[[]SavePoint]{codec[[]SavePoint]{
		syntax: `pairs of seconds and changes, or ""`,
		read:   readSave,
		show:   show,
		lines: func(name string, v []SavePoint) []string {
			if len(v) == 0 {
				return []string{name + ` ""`}
			}
			lines := make([]string, len(v))
			for i := range v {
				lines[i] = name + " " + show(v[i:i+1])
			}
			return lines
		},
	}, at}
}

func readSave(args []string, old []SavePoint, more bool) ([]SavePoint, error) {
	if empty(args) {
		return nil, nil
	}
	if len(args)%2 != 0 {
		return old, errSave
	}
	var points []SavePoint
	if more {
		points = append(points, old...)
	}
	for ; len(args) > 0; args = args[2:] {
		seconds, err1 := parseInt(args[0])
		changes, err2 := parseInt(args[1])
		if err1 != nil || err2 != nil || seconds < 1 || changes < 0 || changes > math.MaxInt32 {
			return old, errSave
		}
		points = append(points, SavePoint{seconds, changes})
	}
	return points, nil
}

var classNames = [...]string{ClassNormal: "normal", ClassReplica: "slave", ClassPubsub: "pubsub"}

func classOf(name string) int {
	if strings.EqualFold(name, "replica") {
		return int(ClassReplica)
	}
	return indexFold(classNames[:], name)
}

// outputLimits changes the classes that are named and keeps the others.
func outputLimits(at func(*Config) *[3]OutputLimit) value {
	return field[[3]OutputLimit]{codec[[3]OutputLimit]{
		syntax: "class hard soft seconds, repeated",
		read:   readOutputLimits,
		show: func(v [3]OutputLimit) string {
			words := make([]string, len(v))
			for i, o := range v {
				words[i] = fmt.Sprintf("%s %d %d %d", classNames[i], o.Hard, o.Soft, o.SoftSeconds)
			}
			return strings.Join(words, " ")
		},
		lines: func(name string, v [3]OutputLimit) []string {
			lines := make([]string, len(v))
			for i, o := range v {
				class := classNames[i]
				if i == int(ClassReplica) {
					class = "replica"
				}
				lines[i] = fmt.Sprintf("%s %s %s %s %d", name, class,
					formatMemory(o.Hard), formatMemory(o.Soft), o.SoftSeconds)
			}
			return lines
		},
	}, at}
}

func readOutputLimits(args []string, v [3]OutputLimit, _ bool) ([3]OutputLimit, error) {
	old := v
	if len(args)%4 != 0 {
		return old, reason("Wrong number of arguments in buffer limit configuration.")
	}
	for ; len(args) > 0; args = args[4:] {
		class := classOf(args[0])
		if class < 0 {
			return old, reason("Invalid client class specified in buffer limit configuration.")
		}
		hard, ok1 := ParseMemory(args[1])
		soft, ok2 := ParseMemory(args[2])
		seconds, err := strconv.ParseInt(args[3], 10, 32)
		if !ok1 || !ok2 || err != nil || seconds < 0 {
			return old, reason(
				"Error in hard, soft or soft_seconds setting in buffer limit configuration.")
		}
		v[class] = OutputLimit{hard, soft, seconds}
	}
	return v, nil
}

var shutdownNames = []string{"default", "save", "nosave", "now", "force"}

// shutdownFlags takes the names of an enum, whose values can be combined.
func shutdownFlags(at func(*Config) *ShutdownFlags) value {
	return field[ShutdownFlags]{codec[ShutdownFlags]{
		syntax: "default, or words of save|nosave|now|force",
		read: func(args []string, old ShutdownFlags, _ bool) (ShutdownFlags, error) {
			var v ShutdownFlags
			for _, a := range args {
				i := indexFold(shutdownNames, a)
				if i < 0 {
					return old, errEnum(shutdownNames)
				}
				if i > 0 {
					v |= 1 << (i - 1)
				}
			}
			if len(args) == 0 {
				return old, errEnum(shutdownNames)
			}
			if v&ShutdownSave != 0 && v&ShutdownNosave != 0 {
				return old, reason("shutdown options SAVE and NOSAVE can't be used simultaneously")
			}
			return v, nil
		},
		show: func(v ShutdownFlags) string {
			if v == 0 {
				return shutdownNames[0]
			}
			var words []string
			for i, n := range shutdownNames[1:] {
				if v&(1<<i) != 0 {
					words = append(words, n)
				}
			}
			return strings.Join(words, " ")
		},
	}, at}
}

func percentiles(at func(*Config) *[]float64) value {
	show := func(v []float64) string {
		words := make([]string, len(v))
		for i, p := range v {
			words[i] = strconv.FormatFloat(p, 'f', -1, 64)
		}
		return strings.Join(words, " ")
	}
	return field[[]float64]{codec[[]float64]{
		syntax: `numbers from 0 to 100, or ""`,
		read: func(args []string, old []float64, _ bool) ([]float64, error) {
			if empty(args) {
				return nil, nil
			}
			var v []float64
			for _, a := range args {
				p, ok := object.ParseScore([]byte(a)) // as strtod
				if !ok {
					return old, reason("Invalid latency-tracking-info-percentiles parameters")
				}
				if p < 0 || p > 100 {
					return old, reason(
						"latency-tracking-info-percentiles parameters should sit " +
							"between [0.0,100.0]")
				}
				v = append(v, sixDecimals(p))
			}
			return v, nil
		},
		show:  show,
		lines: listLine(show),
	}, at}
}

// sixDecimals rounds a number to the decimals that Redis shows.
func sixDecimals(f float64) float64 {
	f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'f', 6, 64), 64)
	return f
}

func oomScores(at func(*Config) *[3]int64) value {
	return field[[3]int64]{codec[[3]int64]{
		syntax: "three numbers from -2000 to 2000",
		read: func(args []string, old [3]int64, _ bool) ([3]int64, error) {
			if len(args) != 3 {
				return old, errArity
			}
			var v [3]int64
			for i, a := range args {
				n, err := parseInt(a)
				if err != nil || n < -2000 || n > 2000 {
					return old, reason(
						"Invalid oom-score-adj-values, elements must be between -2000 and 2000.")
				}
				v[i] = n
			}
			return v, nil
		},
		show: func(v [3]int64) string { return fmt.Sprintf("%d %d %d", v[0], v[1], v[2]) },
	}, at}
}

// primary takes the value of replicaof: host and port. "no one" is stored as the empty string.
func primary(at func(*Config) *string) value {
	return field[string]{codec[string]{
		syntax: "host port, or no one",
		read: func(args []string, old string, _ bool) (string, error) {
			if empty(args) {
				return "", nil
			}
			if len(args) != 2 {
				return old, errArity
			}
			if strings.EqualFold(args[0], "no") && strings.EqualFold(args[1], "one") {
				return "", nil
			}
			port, err := parseInt(args[1])
			if err != nil || port < 0 || port > 65535 {
				return old, reason("Invalid master port")
			}
			return args[0] + " " + args[1], nil
		},
		show: func(v string) string { return v },
		lines: func(name, v string) []string {
			if v == "" {
				return nil
			}
			return []string{name + " " + v}
		},
	}, at}
}

// folder keeps a path absolute. A relative path starts at the folder that it replaces, which is the
// process's working directory. It does not check that the folder exists: changing into it does.
func folder(at func(*Config) *string) value {
	v := str(at).(field[string])
	v.codec.read = func(args []string, old string, _ bool) (string, error) {
		if len(args) != 1 {
			return old, errArity
		}
		s, _, _ := strings.Cut(args[0], "\x00")
		if s == "" || filepath.IsAbs(s) || !filepath.IsAbs(old) {
			return s, nil
		}
		return filepath.Join(old, s), nil
	}
	return v
}

// fileName returns a check that refuses a path where a bare name is wanted, of a file or of what
// the directive calls it.
func fileName(directive string) func(string) error { return bareName(directive, "filename") }

func bareName(directive, what string) func(string) error {
	return func(s string) error {
		if strings.ContainsAny(s, `/\`) {
			return errors.New(directive + " can't be a path, just a " + what)
		}
		return nil
	}
}

// someName is bareName for a name that must not be empty.
func someName(directive, what string) func(string) error {
	bare := bareName(directive, what)
	return func(s string) error {
		if s == "" {
			return errors.New(directive + " can't be empty")
		}
		return bare(s)
	}
}

// titleVars lists the variables of proc-title-template.
var titleVars = []string{"{title}", "{listen-addr}", "{server-mode}", "{port}", "{tls-port}",
	"{unixsocket}", "{config-file}"}

// titleTemplate refuses unknown variables, and a template that could expand to nothing.
func titleTemplate(s string) error {
	for i, v := range titleVars {
		with := "x"
		if i == 0 {
			with = "" // a title may be empty
		}
		s = strings.ReplaceAll(s, v, with)
	}
	if strings.TrimSpace(s) == "" || strings.ContainsAny(s, "{}") {
		return reason("template format is invalid or contains unknown variables")
	}
	return nil
}
