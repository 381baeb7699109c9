package engine

// ImportSource makes the client one that copies data to this server, or an ordinary one again.
func (e *Engine) ImportSource(c *Client, on bool) { c.importSource = on }

// timeless reports whether the client's commands find keys and fields that are due.
func (e *Engine) timeless(c *Client) bool {
	return c.Origin.Feeds() || c.importSource && e.Cfg.ImportMode
}
