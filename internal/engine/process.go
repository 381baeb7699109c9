package engine

// CPUTimes holds seconds of CPU time, user and system, of the process, its children and the calling
// thread.
type CPUTimes struct {
	User, Sys             float64
	ChildUser, ChildSys   float64
	ThreadUser, ThreadSys float64
}

// ReadCPU reads the CPU times. Those that the system does not tell are 0.
func ReadCPU() (t CPUTimes) {
	t.User, t.Sys = processTimes()
	t.ChildUser, t.ChildSys = childTimes()
	t.ThreadUser, t.ThreadSys = threadTimes()
	return t
}

// SystemMemory returns the machine's memory in bytes, 0 if unknown.
func SystemMemory() int64 { return systemMemory() }
