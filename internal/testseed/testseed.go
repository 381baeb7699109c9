// Package testseed gives random tests their seeds. A seed comes from the environment variable
// GODWIT_SEED, which `make` sets to one number so that a tree that passed passes again. Without it
// each run has another seed (`go test`, `make test-repeat`, `make soak`). A failing test has its
// seed in its log.
package testseed

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// New returns the seed of a test and logs it.
func New(t testing.TB) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("GODWIT_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal("GODWIT_SEED: ", err)
		}
	}
	t.Logf("GODWIT_SEED=%d", seed)
	return seed
}

// Rand returns a source of random numbers with the test's seed.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(New(t), 0))
}
