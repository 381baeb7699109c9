package main

import (
	"embed"
	"fmt"
	"io"
	"os/exec"

	"godwit/integration/oracle/diff"
	"godwit/internal/testserver"
)

// The references, by the names that -redis takes. Where they differ, Redis 8 is right, then Valkey
// 9 about what only it has. So known_differences.txt, which holds for all of them, has only what
// cannot be compared and what Godwit does in another way on purpose. The other files add where that
// reference differs from Redis 8, or lags behind it.
const (
	redis8  = string(diff.Redis8)
	valkey9 = string(diff.Valkey9)
	redis7  = string(diff.Redis7)
)

//go:embed known_differences*.txt
var knownDifferences embed.FS

// program returns the path of the server that -redis names.
func program(name string) (string, error) {
	switch name {
	case redis8:
		return testserver.Redis.Find("server")
	case valkey9:
		return testserver.Valkey.Find("server")
	case redis7:
		name = "redis-server"
	}
	return exec.LookPath(name)
}

// knownFor returns the rules for a running reference.
func knownFor(ref *diff.Server) (*diff.Known, error) {
	server, version, err := diff.Identify(ref)
	if err != nil {
		return nil, err
	}
	names := []string{"known_differences.txt"}
	which := diff.ReferenceOf(server, version)
	if which != diff.Redis8 {
		names = append(names, "known_differences_"+string(which)+".txt")
	}
	var files []io.Reader
	for _, name := range names {
		f, err := knownDifferences.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		files = append(files, f)
	}
	known, err := diff.ParseKnown(files...)
	if err != nil {
		return nil, err
	}
	known.Reference = which
	if is := server + " " + version; known.SeenWith != is {
		fmt.Printf("this is %s; the rules were made for %s\n", is, known.SeenWith)
	}
	return known, nil
}
