package stream

import "sort"

// numbered is the consumers of a group by their numbers, which rows have for them. Numbers are from
// 1 on, and a new consumer gets the lowest one that is free. There are no gaps in the slice:
//
//	number  1 2 3 4 5 6         as long as nobody was deleted, number n is at n-1
//	number  1 3 4 6             the one at i has the number i+1 and as many more as are free below
//
// So a number is found at once if all below it are taken, and else by a binary search, and memory
// is that of the consumers that there are.
type numbered []*Consumer

// free returns the number of free numbers below that of the consumer at i.
func (l numbered) free(i int) int { return int(l[i].number) - 1 - i }

// of returns the consumer with a number, nil for 0.
func (l numbered) of(number uint64) *Consumer {
	if number == 0 {
		return nil
	}
	return l[l.find(uint32(number))]
}

// find returns where a number is, or belongs.
func (l numbered) find(number uint32) int {
	end := min(int(number), len(l))
	if end > 0 && l[end-1].number == number {
		return end - 1
	}
	begin := 0
	if len(l) > 0 { // all that are free at most
		begin = max(0, end-1-l.free(len(l)-1))
	}
	return begin + sort.Search(end-begin, func(i int) bool { return l[begin+i].number >= number })
}

// add gives a consumer its number.
func (l *numbered) add(g *Group, c *Consumer) {
	i := len(*l)
	if i > 0 && l.free(i-1) > 0 {
		i = sort.Search(i, func(i int) bool { return l.free(i) > 0 })
	}
	c.number = uint32(i + 1)
	*l = inserted(g, *l, i, c)
}

// remove makes a consumer's number free.
func (l *numbered) remove(g *Group, c *Consumer) { *l = without(g, *l, l.find(c.number)) }

// drop forgets all.
func (l *numbered) drop(g *Group) {
	g.countGo(-cap(*l) * pointerBytes)
	*l = nil
}
