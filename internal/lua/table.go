package lua

// Table is a Lua table.
type Table struct {
	ReadOnly bool
}

// NewTable returns an empty table with room for elements in its two parts.
func NewTable(array, hash int) *Table { return &Table{} }
