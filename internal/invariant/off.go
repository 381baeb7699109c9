//go:build !invariants

package invariant

// Enabled reports whether this build has the expensive checks.
const Enabled = false
