package cluster

import (
	"net"
	"net/netip"

	"godwit/internal/cluster/topology"
)

// lookEvery is how often the machine's addresses are looked at, at most, in ns.
const lookEvery = int64(1e9)

// learn learns the node's own IP address from a link, as Redis does: others reach it there. An
// address that it knows already stays, as long as the machine has it.
func (r *Runtime) learn(now int64, local string) {
	if r.about.IP != "" || local == "" || local == r.ip {
		return
	}
	addr, err := netip.ParseAddr(local)
	if err != nil {
		return
	}
	if r.ip == "" {
		if me := r.node.State().Nodes[r.node.ID()]; me != nil && me.About.IP != "" {
			r.ip = me.About.IP // of an earlier life; it counts in the node's next cluster too
			r.node.SetAbout(now, r.aboutNow())
		}
	}
	local = addr.Unmap().WithZone("").String()
	if local == r.ip || r.ip != "" && (now-r.looked < lookEvery || r.has(now, r.ip)) {
		return
	}
	r.ip = local
	r.log.Notice("IP address for this node updated to %s", local)
	r.node.SetAbout(now, r.aboutNow())
}

// has reports whether the machine has an address.
func (r *Runtime) has(now int64, ip string) bool {
	r.looked = now
	list, err := net.InterfaceAddrs()
	if err != nil {
		return true // nobody knows
	}
	want := net.ParseIP(ip)
	for _, a := range list {
		if n, ok := a.(*net.IPNet); ok && (n.IP.Equal(want) || want.IsLoopback()) {
			return true
		}
	}
	return false
}

// aboutNow returns what the node tells of itself now.
func (r *Runtime) aboutNow() topology.About {
	a := r.about
	if a.IP == "" {
		a.IP = r.ip
	}
	return a
}
