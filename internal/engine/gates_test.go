package engine

import (
	"strings"
	"testing"

	"godwit/internal/config"
	"godwit/internal/pubsub"
	"godwit/internal/vfs"
)

// gateCase makes one gate refuse the command "doomed" of the fixture's client.
type gateCase struct {
	name string
	arm  func(f *fixture)
	want string
}

// gateCases lists all gates, in order.
func gateCases() []gateCase {
	return []gateCase{
		{"arity", nil, "-ERR wrong number of arguments for 'doomed' command"},
		{"guard", func(f *fixture) {
			f.e.Cfg.EnableDebugCommand = config.GuardNo
		}, "-" + ErrDebugNotAllowed},
		{"authentication", func(f *fixture) {
			f.e.Cfg.RequirePass = "secret"
			f.e.ApplyRequirePass()
			f.c.Authenticated = false
		}, "-" + ErrNoAuth},
		{"transaction", func(f *fixture) { f.e.BeginMulti(f.c) }, "-" + ErrNotInMulti},
		{"access", func(f *fixture) {
			if _, err := f.e.access.users.Set("u", []string{"on", "+@all", "~*", "-doomed"},
				false); err != nil {
				f.t.Fatal(err)
			}
			f.c.User = f.e.access.users.Get("u")
		}, "-NOPERM User u has no permissions to run the 'doomed' command"},
		{"client memory", func(f *fixture) {
			f.e.Cfg.MaxmemoryClients = 1 << 20
			f.c.Name = strings.Repeat("x", 2<<20)
		}, ""},
		{"memory", func(f *fixture) { f.e.KS.P.MaxMemory = 1 }, "-" + ErrOOM},
		{"disk", func(f *fixture) {
			f.e.NewStore(vfs.NewMem())
			f.e.persist.saveFailed = true
		}, "-" + ErrMisconfRDB},
		{"replicas", func(f *fixture) { f.e.Cfg.MinReplicasToWrite = 1 }, "-" + ErrNoReplicas},
		{"subscriber", func(f *fixture) { f.e.Subscribe(f.c, pubsub.Channels, []byte("x")) },
			"-ERR Can't execute 'doomed" + ErrSubscribed},
		{"loading", func(f *fixture) { f.e.loading.on = true }, "-" + ErrLoading},
		{"busy", func(f *fixture) {
			f.e.script.run = &runningScript{busy: true}
		}, "-" + errBusyScript},
		{"monitor", func(f *fixture) { f.e.StartMonitor(f.c) }, "-" + ErrMonitorKeys},
		{"pause", func(f *fixture) {
			f.e.Pause(PauseByClient, f.e.Steady()+1e6, true)
		}, "(postponed)"},
	}
}

// TestOrderOfGates lets each gate refuse alone, and then each two of them: the first of the list
// decides. Memory is not looked at while nothing may be evicted.
func TestOrderOfGates(t *testing.T) {
	unseen := map[[2]string]bool{{"memory", "loading"}: true, {"memory", "busy"}: true,
		{"memory", "pause"}: true}
	cases := gateCases()
	for i, first := range cases {
		for _, second := range cases[i:] {
			want := first.want
			if unseen[[2]string{first.name, second.name}] {
				want = second.want
			}
			t.Run(first.name+" and "+second.name, func(t *testing.T) {
				f := newFixture(t, "enable-debug-command yes\nsave 1 1")
				line := "doomed x"
				for _, g := range []gateCase{first, second} {
					if g.arm == nil {
						line = "doomed"
					} else {
						g.arm(f)
					}
				}
				f.expect(f.c, line, want)
				if closing := first.name == "client memory"; f.c.CloseASAP != closing {
					t.Errorf("closing: %t", f.c.CloseASAP)
				}
				f.e.script.run = nil
			})
		}
	}
}

// TestMasterIsObeyed checks that a master's command passes all gates but the first and the last.
func TestMasterIsObeyed(t *testing.T) {
	f := newFixture(t, "enable-debug-command yes\nsave 1 1\n"+
		"replica-ignore-disk-write-errors yes")
	f.c.Origin = OriginMaster
	cases := gateCases()
	for _, g := range cases[1 : len(cases)-1] {
		if g.name != "busy" { // its connection offers nothing then
			g.arm(f)
		}
	}
	f.expect(f.c, "doomed", cases[0].want)
	f.e.leaveMonitor(f.c)
	f.e.endMulti(f.c)
	f.expect(f.c, "doomed x", "+OK")
	cases[len(cases)-1].arm(f)
	f.expect(f.c, "doomed x", "(postponed)")
}
