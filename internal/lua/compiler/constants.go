package compiler

import "godwit/internal/lua/bytecode"

// constantCost is the memory of a constant and of its place in the map.
const constantCost = 100

// constant returns the place of k among the function's constants. As in Lua, the numbers 0 and -0
// are one constant: the first one stays.
func (c *compiler) constant(k bytecode.Constant) int {
	i, ok := c.fn.places[k]
	if !ok {
		i = c.addConstant(k)
		c.fn.places[k] = i
	}
	return i
}

// stringConstant returns the place of a string. Strings have a map of their own, which is faster.
func (c *compiler) stringConstant(s string) int {
	i, ok := c.fn.strings[s]
	if !ok {
		i = c.addConstant(bytecode.Constant{Kind: bytecode.String, Str: s})
		c.fn.strings[s] = i
	}
	return i
}

// nameConstant returns the place of a name, of which all functions have the same copy: the machine
// compares addresses first.
func (c *compiler) nameConstant(name string) int {
	i, ok := c.fn.strings[name]
	if !ok {
		if first, ok := c.names[name]; ok {
			name = first
		} else {
			c.names[name] = name
			c.owe(nameCost)
		}
		i = c.stringConstant(name)
	}
	return i
}

// nameCost is the memory of a place in the map of names.
const nameCost = 64

func (c *compiler) addConstant(k bytecode.Constant) int {
	f := c.fn
	if len(f.Constants) >= maxConstants {
		panic(&Error{"constant table overflow"})
	}
	f.Constants = append(f.Constants, k)
	c.owe(constantCost)
	return len(f.Constants) - 1
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
