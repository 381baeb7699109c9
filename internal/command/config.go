package command

import "godwit/internal/engine"

func configCommands() []*engine.Command { return nil }
