package stream

// EachPending calls f for the rows of PartPending. owner is nil for one that is NACKed; time
// is 0 then.
func (p *Part) EachPending(f func(id ID, owner *ConsumerInfo, time, count int64)) {
	var fr frame
	fr.read(p.block, pendingCols)
	var r row
	for i := range p.n {
		fr.row(p.block, i, &r)
		var owner *ConsumerInfo
		time := int64(0)
		if n := r[colOwner]; n != 0 {
			owner, time = p.numbers[n-1], unflip(r[colTime])
		}
		f(r.id(), owner, time, int64(r[colCount]))
	}
}

// EachID calls f for the IDs of PartOwned or PartNacked.
func (p *Part) EachID(f func(id ID)) {
	cols, at := ownedCols, 0
	if p.Kind == PartNacked {
		cols, at = nackedCols, colMs
	}
	var fr frame
	fr.read(p.block, cols)
	for i := range p.n {
		f(ID{fr.get(p.block, i, at), fr.get(p.block, i, at+1)})
	}
}
