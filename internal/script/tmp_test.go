package script

import (
	"fmt"
	"testing"
)
import "godwit/internal/lua"

func TestTmpOrder(t *testing.T) {
	h := NewHost(nobody{}, Options{Version: "7.2.4"})
	each(h.consts["redis"].Table(), func(k, _ lua.Value) { fmt.Print(k.Str(), " ") })
	fmt.Println()
}
