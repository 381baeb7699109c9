// Package diff is the differential tester: it drives two servers that speak the
// Redis protocol with the same seeded random command stream and reports where
// their replies or their final states differ.
//
// The parts, in the order a command meets them:
//
//	Table      what commands exist and what arguments they take, read from a
//	           live server's COMMAND and COMMAND DOCS (docs.go)
//	generator  random argument vectors out of that table (gen.go), steered by a
//	           small table of useful values (hints.go)
//	Server     a child process or an address, and connections to it (server.go)
//	kinds      rounds of any commands, or about blocking, transactions, users,
//	           messages, client-side caching, functions (gen_kinds.go)
//	runner     sends batches to both sides and compares (run.go); the bytes of
//	           both replies are compared first and decoded only when they differ
//	Known      which comparator a command's replies need, and why (known.go)
//	state      the data sets of both servers, key by key (state.go)
//	shrink     cuts a failing stream down to what still fails (shrink.go)
//	Case       a stream as a readable text file (case.go)
//
// A run is a sequence of rounds. A round is a pure function of (seed, round
// number, tables), starts from empty databases and fresh connections, and is
// therefore the unit that is replayed and shrunk.
package diff
