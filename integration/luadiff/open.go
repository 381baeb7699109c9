package main

import (
	"fmt"
	"os"

	"godwit/integration/luadiff/compare"
	"godwit/internal/testserver"
)

// openers starts engines, and each server once.
type openers struct {
	engines []compare.Engine
	servers map[string]*testserver.Server
	dirs    []string
}

// kinds are the servers by the names of the command line.
var kinds = map[string]testserver.Kind{"server": testserver.Godwit, "redis7": testserver.Redis7,
	"redis8": testserver.Redis8}

func (o *openers) open(name string) (e compare.Engine, err error) {
	switch name {
	case "host":
		e = compare.NewHost()
	case "lua51":
		e, err = compare.NewLua51()
	default:
		e, err = o.server(name)
	}
	if err == nil {
		o.engines = append(o.engines, e)
	}
	return e, err
}

func (o *openers) server(name string) (compare.Engine, error) {
	s := o.servers[name]
	if s == nil {
		dir, err := os.MkdirTemp("", "luadiff")
		if err != nil {
			return nil, err
		}
		o.dirs = append(o.dirs, dir)
		kind, ok := kinds[name]
		if !ok {
			return nil, fmt.Errorf("no engine is called %q", name)
		}
		opts, err := kind.Options(dir, "--lua-time-limit", "1000")
		if err != nil {
			return nil, err
		}
		if s, err = testserver.Start(opts); err != nil {
			return nil, err
		}
		if o.servers == nil {
			o.servers = map[string]*testserver.Server{}
		}
		o.servers[name] = s
	}
	return compare.NewServer("tcp", s.Addr)
}

func (o *openers) close() {
	for _, e := range o.engines {
		e.Close()
	}
	for _, s := range o.servers {
		s.Kill()
	}
	for _, dir := range o.dirs {
		os.RemoveAll(dir)
	}
}
