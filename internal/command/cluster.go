package command

import "godwit/internal/engine"

// errNoCluster is the reply to every cluster command when the server is not in cluster mode.
const errNoCluster = "ERR This instance has cluster support disabled"

func noCluster(c *engine.Ctx) { c.Err(errNoCluster) }

var _ = family(clusterHandlers)

func clusterHandlers() engine.Handlers {
	return engine.Handlers{
		"cluster|info":            noCluster,
		"cluster|nodes":           noCluster,
		"cluster|shards":          noCluster,
		"cluster|links":           noCluster,
		"cluster|replicas":        noCluster,
		"cluster|getkeysinslot":   inCluster(getKeysInSlot),
		"cluster|myshardid":       noCluster,
		"cluster|myid":            noCluster,
		"cluster|keyslot":         inCluster(keySlot),
		"cluster|countkeysinslot": inCluster(countKeysInSlot),
		"cluster|flushslot":       inCluster(flushSlot),
		"cluster|slot-stats":      inCluster(slotStats),
		"clusterscan":             inCluster(clusterScan),
		"cluster|help":            noCluster,
		"cluster|slots":           noCluster,
		"cluster|slaves":          noCluster,
		"asking":                  askingCmd,
		"readonly":                func(c *engine.Ctx) { readOnlyCmd(c, true) },
		"readwrite":               func(c *engine.Ctx) { readOnlyCmd(c, false) },
	}
}

func askingCmd(c *engine.Ctx) {
	if !c.E.ClusterEnabled() {
		c.Err(errNoCluster)
		return
	}
	c.Client.Ask()
	c.OK()
}

// readOnlyCmd carries out READONLY and READWRITE.
func readOnlyCmd(c *engine.Ctx, on bool) {
	if !c.E.ClusterEnabled() {
		c.Err(errNoCluster)
		return
	}
	c.Client.ReadOnly = on
	c.OK()
}
