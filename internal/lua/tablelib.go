package lua

// This file holds what the libraries need of tables and the stack to work on many elements at once.

// Elements returns the values of the keys from one to another if they are all in the array, or nil.
// They may be exchanged. The slice is valid until a key is added to the table.
func (t *Table) Elements(from, to int) []Value {
	if from < 1 || to > len(t.array) || from > to {
		return nil
	}
	return t.array[from-1 : to]
}

// PushElements pushes the values of n keys of a table, from one on.
func (t *Thread) PushElements(tab *Table, from, n int) {
	t.reserve(n)
	to := t.stack[t.top : t.top+n]
	if list := tab.Elements(from, from+n-1); list != nil {
		copy(to, list)
	} else {
		for i := range to {
			to[i] = tab.GetInt(from + i)
		}
	}
	t.top += n
}
