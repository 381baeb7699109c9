package config

// The directives below have no field in Config, because nothing reads them. They are listed so that
// files written for Redis load, that CONFIG GET answers the tools that ask, and that nobody
// believes in a setting that does nothing. When their part of the server arrives, its rows move to
// table.go.

func later(name, def string, flags Flags, doc string, v value) Directive {
	return Directive{Name: name, Default: def, Flags: flags, Status: Later, Doc: doc, value: v}
}

func ignored(name, def string, flags Flags, doc string, v value) Directive {
	return Directive{Name: name, Default: def, Flags: flags, Status: Ignored, Doc: doc, value: v}
}

func (d Directive) alias(name string) Directive {
	d.Alias = name
	return d
}

// ignoredTable lists the directives that are accepted with a warning and do nothing.
func ignoredTable() []Directive {
	const noCPU = "the Go runtime places its threads itself"
	const noJemalloc = "memory is laid out by Godwit's own allocator"
	return []Directive{
		ignored("io-threads-do-reads", "no", Immutable,
			"every event loop reads for its own clients",
			yesNo(held[bool]("io-threads-do-reads"))),
		ignored("crash-log-enabled", "yes", 0, "a crash always leaves a report in the log",
			yesNo(held[bool]("crash-log-enabled"))),
		ignored("tls-prefer-server-ciphers", "no", 0, "Go's TLS orders ciphers itself",
			yesNo(held[bool]("tls-prefer-server-ciphers"))),
		ignored("tls-session-cache-size", "20480", 0,
			"sessions are kept in tickets, not in a cache",
			integer(0, maxInt, held[int64]("tls-session-cache-size"))),
		ignored("tls-session-cache-timeout", "300", 0,
			"sessions are kept in tickets, not in a cache",
			integer(0, maxInt, held[int64]("tls-session-cache-timeout"))),
		ignored("tls-dh-params-file", "", 0, "Go's TLS has no finite-field key exchange",
			str(held[string]("tls-dh-params-file"))),
		ignored("active-defrag-max-scan-fields", "1000", 0,
			"collections of any size are walked in slices",
			integer(1, maxLong, held[int64]("active-defrag-max-scan-fields"))),
		ignored("jemalloc-bg-thread", "yes", 0, noJemalloc,
			yesNo(held[bool]("jemalloc-bg-thread"))),
		ignored("oom-score-adj", "no", 0, "Godwit has no child processes to rank",
			choice([]string{"no", "yes", "relative", "absolute"}, held[string]("oom-score-adj"))),
		ignored("oom-score-adj-values", "0 200 800", Multi, "Godwit has no child processes to rank",
			oomScores(held[[3]int64]("oom-score-adj-values"))),
		ignored("crash-memcheck-enabled", "yes", 0, "there is no memory test",
			yesNo(held[bool]("crash-memcheck-enabled"))),
		ignored("ignore-warnings", "", 0, "there are no such warnings",
			str(held[string]("ignore-warnings"))),
		ignored("socket-mark-id", "0", Immutable, "sockets are not marked",
			integer(0, maxUint, held[int64]("socket-mark-id"))),
		ignored("loading-process-events-interval-bytes", "524288", Hidden,
			"clients are answered beside the loading",
			integer(1024, maxInt, held[int64]("loading-process-events-interval-bytes"))),
		ignored("watchdog-period", "0", Hidden, "a stack is had by SIGQUIT, a profile by tools",
			integer(0, maxInt, held[int64]("watchdog-period"))),
		ignored("use-exit-on-panic", "no", Hidden, "the Go runtime ends the process",
			yesNo(held[bool]("use-exit-on-panic"))),
		ignored("lua-enable-deprecated-api", "no", Immutable|Hidden,
			"newproxy, getfenv and setfenv are not there",
			yesNo(held[bool]("lua-enable-deprecated-api"))),
		ignored("server-cpulist", "", Immutable, noCPU, str(held[string]("server-cpulist"))).
			alias("server_cpulist"),
		ignored("bio-cpulist", "", Immutable, noCPU, str(held[string]("bio-cpulist"))).
			alias("bio_cpulist"),
		ignored("aof-rewrite-cpulist", "", Immutable, noCPU,
			str(held[string]("aof-rewrite-cpulist"))).
			alias("aof_rewrite_cpulist"),
		ignored("bgsave-cpulist", "", Immutable, noCPU, str(held[string]("bgsave-cpulist"))).
			alias("bgsave_cpulist"),
	}
}
