package command

import "godwit/internal/engine"

func bitmapCommands() []*engine.Command { return nil }
