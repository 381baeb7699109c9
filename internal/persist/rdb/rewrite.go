package rdb

import "godwit/internal/object"

// Commands are written in the place of records where an append-only file's base is to consist of commands.
type Commands struct {
	B []byte // in the request form of RESP
}

// Record adds the commands that recreate the entry under its key, deadline included.
func (c *Commands) Record(h *object.Heap, en object.Entry) {}
