package command

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"godwit/internal/engine"
)

func infoServer(b engine.Build) func(t *infoText) {
	return func(t *infoText) {
		e := t.e
		up := e.Uptime() / 1000
		exe, _ := os.Executable() // Empty if the system does not know.
		t.str("redis_version", e.Cfg.CompatVersion)
		t.str("redis_git_sha1", b.Sha())
		t.num("redis_git_dirty", int64(b.Dirty))
		t.str("redis_build_id", b.ID())
		t.str("redis_mode", serverMode(e))
		t.str("server_name", "godwit")
		t.str("godwit_version", engine.Version)
		t.str("os", engine.OSName())
		t.num("arch_bits", strconv.IntSize)
		t.str("monotonic_clock", "Go runtime")
		t.str("multiplexing_api", multiplexer())
		t.str("atomicvar_api", "sync/atomic")
		t.str("gcc_version", "0.0.0") // what Redis says if another compiler has made it
		t.str("go_version", runtime.Version())
		t.num("process_id", int64(os.Getpid()))
		t.str("process_supervised", directive(e, "supervised"))
		t.str("run_id", e.RunID())
		t.num("tcp_port", int64(tcpPort(e)))
		t.num("server_time_usec", e.NowMicros())
		t.num("uptime_in_seconds", up)
		t.num("uptime_in_days", up/(24*3600))
		t.num("hz", int64(e.Hz()))
		t.num("configured_hz", int64(e.Cfg.Hz))
		t.num("lru_clock", e.Steady()/1000&0xffffff)
		t.str("executable", exe)
		t.str("config_file", e.Cfg.File)
		t.num("io_threads_active", boolInt(e.Cfg.IOThreads > 1))
		if left := e.ShutdownIn(); left > 0 {
			t.num("shutdown_in_milliseconds", left)
		}
		listeners(t)
		t.str("availability_zone", e.Cfg.AvailabilityZone)
	}
}

func multiplexer() string {
	if runtime.GOOS == "linux" {
		return "epoll"
	}
	return "goroutines"
}

func tcpPort(e *engine.Engine) int {
	if e.Cfg.Port == 0 {
		return e.Cfg.TLSPort
	}
	return e.Cfg.Port
}

// listeners writes a line for each kind of listener, numbered.
func listeners(t *infoText) {
	cfg := t.e.Cfg
	n := 0
	line := func(kind string, addrs []string, port int) {
		var b strings.Builder
		b.WriteString("name=" + kind)
		for _, a := range addrs {
			b.WriteString(",bind=" + a)
		}
		if port != 0 {
			b.WriteString(",port=" + strconv.Itoa(port))
		}
		t.str("listener"+strconv.Itoa(n), b.String())
		n++
	}
	if cfg.Port != 0 && len(cfg.Bind) > 0 {
		line("tcp", cfg.Bind, cfg.Port)
	}
	if cfg.UnixSocket != "" {
		line("unix", []string{cfg.UnixSocket}, 0)
	}
	if cfg.TLSPort != 0 && len(cfg.Bind) > 0 {
		line("tls", cfg.Bind, cfg.TLSPort)
	}
}

// directive returns the value of a directive as CONFIG GET shows it.
func directive(e *engine.Engine, name string) string {
	for _, kv := range e.Cfg.Get([]byte(name)) {
		return kv[1]
	}
	return ""
}

func infoCPU(t *infoText) {
	cpu := engine.ReadCPU()
	t.fixed("used_cpu_sys", cpu.Sys, 6)
	t.fixed("used_cpu_user", cpu.User, 6)
	t.fixed("used_cpu_sys_children", cpu.ChildSys, 6)
	t.fixed("used_cpu_user_children", cpu.ChildUser, 6)
	t.fixed("used_cpu_sys_main_thread", cpu.ThreadSys, 6)
	t.fixed("used_cpu_user_main_thread", cpu.ThreadUser, 6)
	t.fixed("used_active_time_main_thread", float64(t.e.Stats.Loop.Nanos)/1e9, 6)
}

// serverMode returns the word for what the server is, in INFO and HELLO.
func serverMode(e *engine.Engine) string {
	if e.ClusterEnabled() {
		return "cluster"
	}
	return "standalone"
}
