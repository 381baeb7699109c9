package command

import "godwit/internal/engine"

func serverCommands() []*engine.Command { return nil }
