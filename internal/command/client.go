package command

import "godwit/internal/engine"

func clientCommands() []*engine.Command { return nil }
