package command

import "godwit/internal/engine"

func genericCommands() []*engine.Command { return nil }
