package command

import "godwit/internal/engine"

func stringCommands() []*engine.Command { return nil }
