package command

import "godwit/internal/engine"

// errNoCluster is the reply to every cluster command when the server is not in cluster mode.
const errNoCluster = "ERR This instance has cluster support disabled"

func noCluster(c *engine.Ctx) { c.Err(errNoCluster) }

var _ = family(clusterHandlers)

func clusterHandlers() engine.Handlers {
	return engine.Handlers{
		"cluster|getkeysinslot":   inCluster(getKeysInSlot),
		"cluster|keyslot":         inCluster(keySlot),
		"cluster|countkeysinslot": inCluster(countKeysInSlot),
		"cluster|flushslot":       inCluster(flushSlot),
		"cluster|slot-stats":      inCluster(slotStats),
		"cluster|syncslots":       inCluster(syncSlots),
		"clusterscan":             inCluster(clusterScan),
	}
}
