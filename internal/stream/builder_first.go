package stream

// First returns the smallest ID of the nodes so far, 0-0 if there is none.
func (b *Builder) First() ID {
	var first ID
	for i := range b.blocks {
		if id := b.blocks[i].first; i == 0 || id.Less(first) {
			first = id
		}
	}
	return first
}
