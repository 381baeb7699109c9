package command

import "godwit/internal/engine"

func commandInfoCommands() []*engine.Command { return nil }
