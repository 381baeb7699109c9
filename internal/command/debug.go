package command

import "godwit/internal/engine"

func debugCommands() []*engine.Command { return nil }
