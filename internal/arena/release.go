package arena

import "math/bits"

// What is free goes back to the system in slices, when the owner has time: Release.

// Idle reports whether Release has something to do.
func (a *Arena) Idle() bool { return len(a.idle)+len(a.dying) > 0 }

// Dying reports whether freed big blocks wait for Release.
func (a *Arena) Dying() bool { return len(a.dying) > 0 }

// Waiting returns the bytes that are not in use and wait for Release: freed big blocks, as far as
// they are still mapped, and empty chunks. It is an upper bound: a chunk that is used again after
// it was queued counts until Release comes to it.
func (a *Arena) Waiting() int64 {
	return a.dyingLeft + int64(len(a.idle))*chunkSize
}

// WaitingBig returns the bytes of big blocks that were freed and have not gone back to the system:
// a part of Waiting, and those that are kept for the next block of their size.
func (a *Arena) WaitingBig() int64 { return a.dyingLeft + a.kept.bytes }

// Held returns the bytes that Release and Discard have not given back to the system.
func (a *Arena) Held() int64 { return a.mapped - a.goneBytes }

// Release gives a part of the empty chunks and of the freed big blocks back to the system, which
// takes up to 0.3 ms. It reports whether more is queued. The arena's owner calls it when it has
// time.
func (a *Arena) Release() (more bool) {
	if len(a.dying) > 0 {
		a.releaseBig()
		return a.Idle()
	}
	for n := len(a.idle); n > 0; n = len(a.idle) {
		i := a.idle[n-1]
		a.idle = a.idle[:n-1]
		k := a.meta[i]
		k.queued = false
		if ^k.freeUnits == 0 && i != a.spare { // not used again since it was queued
			a.releaseChunk(i, k)
			break
		}
	}
	return a.Idle()
}

// queueSpare leaves the empty chunk that is kept to Release.
func (a *Arena) queueSpare() {
	i := a.spare
	a.spare = 0
	if i != 0 && !a.meta[i].queued {
		a.meta[i].queued = true
		a.idle = append(a.idle, i)
	}
}

// releaseChunk begins to give an empty chunk back. One of few pages goes at once, and so do two
// huge pages: a part of one would have to be cut off first.
func (a *Arena) releaseChunk(i uint32, k *chunk) {
	if countHuge(k.halves[:]) == halvesInChunk ||
		bits.OnesCount64(k.dirty)<<unitShift <= releaseBytes {
		a.dropChunk(i)
		return
	}
	m := dyingMapping{base: a.base[i], size: a.size[i]}
	a.uncount(k)
	a.forgetChunk(i)
	a.bury(m)
	a.releaseBig()
}

// uncount takes a chunk out of the counts of chunks.
func (a *Arena) uncount(k *chunk) {
	a.chunks--
	a.dirty -= bits.OnesCount64(k.dirty)
	a.free -= bits.OnesCount64(k.freeUnits)
	a.huge.halves -= countHuge(k.halves[:])
}
