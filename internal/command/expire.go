package command

import "godwit/internal/engine"

func expireCommands() []*engine.Command { return nil }
