package compiler

import "godwit/internal/lua/bytecode"

// constantCost is the memory of a constant and of its place in the map.
const constantCost = 100

// constant returns the place of k among the function's constants. As in Lua, the numbers 0 and -0
// are one constant: the first one stays.
func (c *compiler) constant(k bytecode.Constant) int {
	f := c.fn
	i, ok := f.places[k]
	if !ok {
		if i = len(f.Constants); i >= maxConstants {
			panic(&Error{"constant table overflow"})
		}
		f.Constants = append(f.Constants, k)
		f.places[k] = i
		c.owe(constantCost)
	}
	return i
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
