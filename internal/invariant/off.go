//go:build !invariants

package invariant

// Enabled tells whether this build carries the expensive checks.
const Enabled = false
