package command

import "godwit/internal/engine"

func memoryCommands() []*engine.Command { return nil }
