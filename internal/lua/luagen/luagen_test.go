package luagen

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestShow(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 0))
	for range 3 {
		fmt.Println(Program(r)[len(prelude):])
	}
}
