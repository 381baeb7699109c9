package engine

import (
	"strconv"

	"godwit/internal/cluster/topology"
	"godwit/internal/config"
	"godwit/internal/spec"
)

// verdict is what becomes of a command in the cluster.
type verdict uint8

const (
	serves     verdict = iota // it runs here
	crossSlot                 // its keys are in several slots
	unserved                  // nobody owns the slot
	downAll                   // the cluster is down
	downWrites                // it is down, and serves reads
	tryAgain                  // some keys have moved already
	asks                      // the other node is asked for this command
	movedAway                 // the other node is asked from now on
	waits                     // the slot is about to move: it comes again, but not for ever
	readOnly                  // this replica takes no writes, and does not say who does
)

// Error texts of redirections.
const (
	errCrossSlot  = "CROSSSLOT Keys in request don't hash to the same slot"
	errTryAgain   = "TRYAGAIN Multiple keys request during rehashing of slot"
	errUnserved   = "CLUSTERDOWN Hash slot not served"
	errDownWrites = "CLUSTERDOWN The cluster is down and only accepts read commands"
)

// redirection returns the error for a verdict.
func (e *Engine) redirection(cl *Client, v verdict, n int, to *topology.Node) refusal {
	word := "MOVED "
	switch v {
	case crossSlot:
		return errCrossSlot
	case unserved:
		return errUnserved
	case downAll:
		return ErrClusterDown
	case downWrites:
		return errDownWrites
	case tryAgain:
		return errTryAgain
	case readOnly:
		return ErrReadOnly
	case asks:
		word = "ASK "
		if to == nil {
			return errUnserved
		}
	}
	return refusal(word + strconv.Itoa(n) + " " + e.Endpoint(to) + ":" +
		strconv.Itoa(ClientPort(to, cl)))
}

// Endpoint returns the host under which redirections name a node: its address, its name or "?", or
// "" for the one that the client knows, as cluster-preferred-endpoint-type says.
func (e *Engine) Endpoint(n *topology.Node) string {
	switch e.Cfg.Cluster.Endpoint {
	case config.EndpointHostname:
		if n.About.Hostname == "" {
			return "?"
		}
		return n.About.Hostname
	case config.EndpointUnknown:
		return ""
	}
	return n.About.IP
}

// ClientPort returns the node's port for clients: the one for TLS if the client uses TLS.
func ClientPort(n *topology.Node, cl *Client) int {
	if cl.TLS {
		return n.About.TLSPort
	}
	return n.About.Port
}

const errScriptCrossSlot = "ERR Script attempted to access keys that do not hash to the same slot"

// errScriptClosing is the reply to a script that would use keys of slots that are about to move.
const errScriptClosing = "TRYAGAIN Script attempted to access a slot that is about to move"

// scriptRedirection returns the error for a verdict on a command of a script.
func scriptRedirection(v verdict, cmd *spec.Command) refusal {
	switch v {
	case crossSlot:
		return refusal("ERR Command '" + cmd.FullName() +
			"' in script attempted to access keys that don't hash to the same slot")
	case tryAgain:
		return refusal("ERR Unable to execute command '" + cmd.FullName() + "' in script " +
			"because undeclared keys were accessed during rehashing of the slot")
	case readOnly:
		return ErrReadOnly
	case waits:
		return errScriptClosing
	case unserved:
		return "ERR Script attempted to access a slot not served"
	case downAll:
		return "ERR Script attempted to execute a command while the cluster is down"
	case downWrites:
		return "ERR Script attempted to execute a write command while the cluster is down and " +
			"readonly"
	}
	return "ERR Script attempted to access a non local key in a cluster node"
}
