package acl

import (
	"slices"
	"strings"
)

// Info is what rules need to know of a command.
type Info struct {
	Name       string   // lower case; a subcommand with its container: "config|get"
	Categories []string // without '@'
	NoAuth     bool     // allowed to everybody
}

// Catalog numbers commands, subcommands among them. It does not change.
type Catalog struct {
	infos      []Info
	ids        map[string]int
	subs       map[int][]int
	categories map[string][]int
	order      []string // of the categories
}

// NewCatalog numbers the commands in the order of infos. categories are all there are, also those without a command.
func NewCatalog(infos []Info, categories []string) *Catalog {
	c := &Catalog{infos: infos, ids: map[string]int{}, subs: map[int][]int{}, categories: map[string][]int{}, order: categories}
	for id, i := range infos {
		c.ids[i.Name] = id
	}
	for _, name := range categories {
		c.categories[name] = nil
	}
	for id, i := range infos {
		if container, _, has := strings.Cut(i.Name, "|"); has {
			parent := c.ids[container]
			c.subs[parent] = append(c.subs[parent], id)
		}
		for _, name := range i.Categories {
			c.categories[name] = append(c.categories[name], id)
		}
	}
	return c
}

// ID is the number of the command of that lower-case name.
func (c *Catalog) ID(name string) (int, bool) {
	id, ok := c.ids[name]
	return id, ok
}

// Len is how many commands there are; their numbers are below.
func (c *Catalog) Len() int { return len(c.infos) }

// InCategory are the names of the commands of a category, sorted; ok says whether there is such a category.
func (c *Catalog) InCategory(name string) (names []string, ok bool) {
	ids, ok := c.categories[name]
	for _, id := range ids {
		names = append(names, c.infos[id].Name)
	}
	slices.Sort(names)
	return names, ok
}

// Categories are the names of all categories, in their order.
func (c *Catalog) Categories() []string { return c.order }
