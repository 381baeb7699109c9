package script

import (
	"runtime"
	"runtime/metrics"

	"godwit/internal/crash"
)

// heapBytes returns the size of the process's heap, and how much of it was in use at the end of the
// last collection.
func heapBytes() (objects, live uint64) {
	heap := [2]metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"},
	}
	metrics.Read(heap[:])
	return heap[0].Value.Uint64(), heap[1].Value.Uint64()
}

// collectGarbage makes Go's collector run if there may be more garbage in the process than most
// bytes. What has been allocated since the last collection may be garbage, whoever did it. Others
// are served meanwhile.
func (s *State) collectGarbage(most int) {
	if objects, live := heapBytes(); int(objects)-int(live) <= most {
		return
	}
	s.L.Wait(startCollection())
}

// startCollection makes Go's collector run and does not wait for it.
func startCollection() (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		defer crash.Guard("collecting garbage")()
		runtime.GC()
		close(done)
	}()
	return done
}
