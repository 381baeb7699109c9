package config

import (
	"fmt"
	"path"
	"strings"
)

// builtIn names the modules whose commands are part of Godwit.
var builtIn = map[string]bool{
	"redisbloom": true, "rebloom": true, "valkey-bloom": true, "redis-cell": true,
}

// moduleOptions maps RedisBloom's loadmodule arguments to the directives that replace them.
var moduleOptions = map[string]string{
	"error_rate": "bf-error-rate", "initial_size": "bf-initial-size",
	"cf_max_expansions": "cf-max-expansions",
}

// loadModule reads a loadmodule line. A built-in module needs no file: its arguments set the
// directives that replace them. Any other module is refused.
func (l *loader) loadModule(args []string) error {
	file := strings.ToLower(path.Base(args[0]))
	name := strings.TrimSuffix(strings.TrimSuffix(file, ".so"), ".dylib")
	name = strings.ReplaceAll(strings.TrimPrefix(name, "lib"), "_", "-")
	if !builtIn[name] {
		return noModuleError(args[0])
	}
	l.c.warnings = append(l.c.warnings,
		fmt.Sprintf("The module %s is built in: '%s' is not read", name, args[0]))
	for args = args[1:]; len(args) >= 2; args = args[2:] {
		option := strings.ToLower(args[0])
		if d := moduleOptions[option]; d != "" {
			option = d
		}
		d := index[option]
		if d == nil || !strings.HasPrefix(option, "bf-") && !strings.HasPrefix(option, "cf-") {
			break
		}
		if err := l.directive(d, args[1:2]); err != nil {
			return err
		}
	}
	if len(args) > 0 {
		l.c.warnings = append(l.c.warnings,
			fmt.Sprintf("WARNING: the argument '%s' of the module %s has no effect", args[0], name))
	}
	return nil
}

// noModuleError reports a module that is not built in.
type noModuleError string

func (e noModuleError) Error() string {
	return "loadmodule " + string(e) + " is not supported: Godwit runs without modules"
}
