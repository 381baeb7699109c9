package engine

// slotRef is a slot, or none: its number + 1, so that the zero value is none.
type slotRef uint16

func refTo(slot int) slotRef { return slotRef(slot + 1) }

// slot returns the slot, -1 for none.
func (r slotRef) slot() int { return int(r) - 1 }
