// Package diff is the differential tester. It drives two servers that speak the Redis protocol with
// the same seeded random command stream, and reports where their replies or final states differ.
//
// The parts, in the order a command meets them:
//
//	Table      which commands exist and which arguments they take, read from a
//	           live server's COMMAND and COMMAND DOCS (docs.go)
//	generator  picks commands (gen.go) and makes their arguments from the table
//	           (gen_args.go). Hints say which values are useful (hints*.go), guards
//	           repair what could not be compared or would cost too much (guards.go)
//	Server     a child process or an address, and connections to it (server.go)
//	kinds      rounds of any commands, or about blocking, transactions, users,
//	           messages, client-side caching, functions (gen_kinds.go)
//	runner     sends batches to both sides (run.go) and compares the replies: bytes
//	           first, decoded only where they differ (compare.go). Raw connections
//	           are compared as a whole (raw.go)
//	Known      which comparator a command's replies need, and why (known.go,
//	           comparators.go)
//	state      the data sets of both servers, key by key (state.go)
//	shrink     cuts a failing stream down to what still fails (shrink.go)
//	Case       a stream as a readable text file (case.go)
//
// A run is a sequence of rounds. A round is a pure function of (seed, round number, tables). It
// starts from empty databases and fresh connections, so it can be replayed and shrunk alone.
package diff
