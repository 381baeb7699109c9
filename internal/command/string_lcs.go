package command

import (
	"godwit/internal/engine"
)

func lcsCommand() *engine.Command { return nil }
