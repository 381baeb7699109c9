// Package testseed gives random tests their seeds: from the environment variable GODWIT_SEED, which
// `make` sets to one number so that a tree that passed passes again, or another one in each run
// (`go test`, `make test-repeat`, `make soak`). A failing test has its seed in its log.
package testseed

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// New is the seed of a test, which it logs.
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

// Rand is a source of random numbers with the test's seed.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(New(t), 0))
}
