package engine

// derive fills what follows from the entry: movablekeys and ACL categories.
func (c *Command) derive() {}
