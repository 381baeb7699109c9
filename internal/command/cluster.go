package command

import "godwit/internal/engine"

func noCluster(c *engine.Ctx) { c.Err(engine.ErrClusterDisabled) }

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
