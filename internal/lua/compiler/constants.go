package compiler

import "godwit/internal/lua/bytecode"

// constantCost is the memory of a constant and of its place in the map.
const constantCost = 100

// constant returns the place of k among the function's constants. Strings have stringConstant. As
// in Lua, the numbers 0 and -0 are one constant: the first one stays.
func (c *compiler) constant(k bytecode.Constant) int {
	f := c.fn
	i, ok := f.places[k]
	if !ok {
		if f.places == nil {
			f.places = map[bytecode.Constant]int{}
		}
		i = c.addConstant(k)
		f.places[k] = i
	}
	return i
}

func (c *compiler) addConstant(k bytecode.Constant) int {
	f := c.fn
	if len(f.constants) >= maxConstants {
		panic(&Error{"constant table overflow"})
	}
	f.constants = append(f.constants, k)
	c.owe(constantCost)
	return len(f.constants) - 1
}

// stringConstant returns the place of a string. Strings have a map of their own, which is faster.
func (c *compiler) stringConstant(s string) int {
	f := c.fn
	i, ok := f.strings[s]
	if !ok {
		if f.strings == nil {
			f.strings = map[string]int{}
		}
		i = c.addConstant(bytecode.Constant{Kind: bytecode.String, Str: s})
		f.strings[s] = i
	}
	return i
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
