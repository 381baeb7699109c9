package command

import "godwit/internal/engine"

func connectionCommands() []*engine.Command { return nil }
