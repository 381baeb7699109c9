package command

import "godwit/internal/engine"

func infoCommands() []*engine.Command { return nil }
