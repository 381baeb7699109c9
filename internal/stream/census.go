package stream

// Census counts what older files and servers cannot hold of streams, so that what a snapshot will
// need is known before it begins. The counts are never too low; streams that were dropped and wait
// to be freed may still be counted.
type Census struct {
	Groups int // consumer groups
	Nacked int // groups with NACKed entries
	IDMP   int // streams with settings, counts or records of producers of their own
}

// Census returns the counts of all streams, in O(1).
func (sh *Shared) Census() Census { return sh.census }

// Ever returns how many of these there have been in all, in O(1).
func (sh *Shared) Ever() Census { return sh.ever }

// countNacked follows a change of the group's queue.
func (g *Group) countNacked() {
	if has := g.queue().n > 0; has != g.hasNacked {
		g.hasNacked = has
		if !has {
			g.s.sh.census.Nacked--
			return
		}
		g.s.sh.census.Nacked++
		g.s.sh.ever.Nacked++
	}
}

// uncount takes a group out of the census that its stream does not have any more.
func (g *Group) uncount() {
	g.s.sh.census.Groups--
	if g.hasNacked {
		g.hasNacked = false
		g.s.sh.census.Nacked--
	}
}
