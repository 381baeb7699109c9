package command

import "godwit/internal/engine"

func observeCommands() []*engine.Command { return nil }
