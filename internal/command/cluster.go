package command

import "godwit/internal/engine"

// errNoCluster is the reply to every cluster command when the server is not in cluster mode.
const errNoCluster = "ERR This instance has cluster support disabled"

func noCluster(c *engine.Ctx) { c.Err(errNoCluster) }

var _ = family(clusterHandlers)

func clusterHandlers() engine.Handlers {
	return engine.Handlers{
		"cluster|count-failure-reports": noCluster,
		"cluster|getkeysinslot":         noCluster,
		"cluster|keyslot":               noCluster,
		"cluster|countkeysinslot":       noCluster,
		"cluster|addslots":              noCluster,
		"cluster|addslotsrange":         noCluster,
		"cluster|delslots":              noCluster,
		"cluster|delslotsrange":         noCluster,
		"cluster|flushslots":            noCluster,
		"cluster|setslot":               noCluster,
		"cluster|failover":              noCluster,
		"cluster|forget":                noCluster,
		"cluster|replicate":             noCluster,
		"cluster|reset":                 noCluster,
		"cluster|saveconfig":            noCluster,
		"cluster|set-config-epoch":      noCluster,
		"cluster|meet":                  noCluster,
		"cluster|bumpepoch":             noCluster,
	}
}
