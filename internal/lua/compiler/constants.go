package compiler

import "godwit/internal/lua/bytecode"

// constantCost is the memory of a constant and of its place in the map.
const constantCost = 100

// constant returns the place of k among the function's constants. As in Lua, the numbers 0 and -0
// are one constant: the first one stays.
func (c *compiler) constant(k bytecode.Constant) int {
	f := c.fn
	if i, ok := f.places[k]; ok {
		return i
	}
	n := len(f.constants)
	if n >= maxConstants {
		panic(&Error{"constant table overflow"})
	}
	if f.places == nil {
		f.places = map[bytecode.Constant]int{}
	}
	f.places[k] = n
	f.constants = append(f.constants, k)
	c.owe(constantCost)
	return n
}

func (c *compiler) stringConstant(s string) int {
	return c.constant(bytecode.Constant{Kind: bytecode.String, Str: s})
}

func (c *compiler) numberConstant(n float64) int {
	return c.constant(bytecode.Constant{Kind: bytecode.Number, Num: n})
}

// refConstant returns the place of a reference to a constant of the environment.
func (c *compiler) refConstant(global, field string) int {
	if field != "" {
		global += "." + field
	}
	return c.constant(bytecode.Constant{Kind: bytecode.Ref, Str: global})
}
