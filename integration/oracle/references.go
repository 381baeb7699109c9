package main

import (
	"embed"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"godwit/integration/oracle/diff"
	"godwit/internal/testserver"
)

// The references, by the names that -redis takes. Where they differ, Redis 8 is right, then Valkey
// 9 about what only it has. So known_differences.txt, which holds for all of them, has only what
// cannot be compared and what Godwit does in another way on purpose. The other files add where that
// reference differs from Redis 8, or lags behind it.
const (
	redis8  = "redis8"
	valkey9 = "valkey9"
	redis7  = "redis7"
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

// referenceName returns which of the references a server is, by its own name and version.
func referenceName(server, version string) string {
	switch {
	case server == "valkey":
		return valkey9
	case strings.HasPrefix(version, "7.") || strings.HasPrefix(version, "6."):
		return redis7
	}
	return redis8
}

// knownFor returns the rules for a running reference.
func knownFor(ref *diff.Server) (*diff.Known, error) {
	server, version, err := diff.Identify(ref)
	if err != nil {
		return nil, err
	}
	names := []string{"known_differences.txt"}
	if name := referenceName(server, version); name != redis8 {
		names = append(names, "known_differences_"+name+".txt")
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
	if is := server + " " + version; known.SeenWith != is {
		fmt.Printf("this is %s; the rules were made for %s\n", is, known.SeenWith)
	}
	return known, nil
}
