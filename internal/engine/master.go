package engine

// Master is the server that this one copies.
type Master struct {
	Host string
	Port int

	client *Client // that applies the stream, nil unless connected
	cached bool    // the data set is a place of a history: a master may go on from there
	db     int     // what the stream has selected when there is no client
}

// masterCron is called once a second: connecting, acknowledging, timeouts.
func (e *Engine) masterCron() {}
