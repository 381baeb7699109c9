package lua

// Table is a Lua table.
type Table struct {
	Metatable *Table
	ReadOnly  bool
	absent    uint32
	m         map[Value]Value
}

// NewTable returns an empty table with room for elements in its two parts.
func NewTable(array, hash int) *Table { return &Table{} }

func tableBytes(array, hash int) int                    { return 64 + 16*array + 40*hash }
func HashString(s string) uint32                        { return 0 }
func (t *Table) Get(k Value) Value                      { return Nil }
func (t *Table) GetInt(i int) Value                     { return Nil }
func (t *Table) GetStr(k Value, h uint32) Value         { return Nil }
func (t *Table) GetString(s string) Value               { return Nil }
func (t *Table) SetString(s string, v Value)            {}
func (t *Table) SetInt(i int, v Value)                  {}
func (t *Table) Len() int                               { return 0 }
func (t *Table) element(f float64) *Value               { return nil }
func (t *Table) settable(k Value, h uint32) *Value      { return nil }
func (t *Table) has(k Value) bool                       { return false }
func (t *Table) set(k, v Value, b *Budget) error        { return nil }
func (t *Table) setInt(i int, v Value, b *Budget) error { return nil }
func (t *Table) reserveArray(n int, b *Budget) error    { return nil }
func badKey(k Value) string                             { return "" }

type Budget struct {
	Left  int
	ended error
}

func (b *Budget) init()            {}
func (b *Budget) Grow(n int) error { return nil }
func (b *Budget) Look() error      { return nil }
func (b *Budget) Ended() error     { return b.ended }
func (b *Budget) End(e error)      { b.ended = e }
