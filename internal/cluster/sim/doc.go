// Package sim runs clusters of core.Node on simulated machines: clocks that drift, processes that
// are stopped or killed, disks that fail, a network that loses, doubles, delays and cuts. Time is
// virtual, and everything random comes from one seed, so a run can be repeated. After each step the
// world checks what must never be broken (check.go).
//
// Each machine has a node and a model of the shard's server: a log of writes that a master appends
// to under its lease, and that replicas copy. The model does what the real server promises to the
// core (server.go).
//
// The package is for tests.
package sim
