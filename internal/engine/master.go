package engine

// Master is the server that this one copies.
type Master struct {
	Host string
	Port int
}

// masterCron is called once a second: connecting, acknowledging, timeouts.
func (e *Engine) masterCron() {}
