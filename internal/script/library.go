package script

import (
	"slices"
	"strings"

	"godwit/internal/lua"
	"godwit/internal/resp"
)

// Libraries of functions: what FUNCTION LOAD adds, FCALL finds and FUNCTION LIST shows. Nothing
// here knows Lua; functions.go runs the code.
//
// A LibrarySet changes as a whole or not at all: a library that cannot be added leaves it as it
// was. Function names are unique over all libraries.

// Function is one function of a library.
type Function struct {
	Name        string
	Description string
	Described   bool // an empty description differs from none
	Flags       Flags
	Library     *Library

	callback lua.Value
}

// Library is the code of a library and what it registered.
type Library struct {
	Name      string
	Engine    string // as the code spells it
	Code      string // with its first line
	Functions []*Function

	compiled int64 // estimated memory of the compiled code, bytes
}

// LibraryError reports a library that cannot be loaded. Its text is for the client, without a code.
type LibraryError string

func (e LibraryError) Error() string { return string(e) }

// Errors about names, in redis-server's words.
var (
	ErrLibraryName = LibraryError("Library names can only contain letters, numbers, or " +
		"underscores(_) and must be at least one character long")
	ErrInLibrary   = LibraryError("Function already exists in the library")
	ErrNoFunctions = LibraryError("No functions registered")
)

// validLibraryName reports whether s can name a library.
func validLibraryName(s string) bool {
	for i := range len(s) {
		if c := s[i]; c != '_' && c-'0' > 9 && (c|0x20)-'a' > 25 {
			return false
		}
	}
	return s != ""
}

// ParseLibrary reads the first line of a library's code, "#!engine name=library", and returns an
// empty library. body is the rest, beginning with the first line's end, so that line numbers match
// those of the code.
func ParseLibrary(code string) (lib *Library, body string, err error) {
	if !strings.HasPrefix(code, "#!") {
		return nil, "", LibraryError("Missing library metadata")
	}
	line, body, ok := firstLine(code)
	if !ok {
		return nil, "", LibraryError("Invalid library metadata")
	}
	words, ok := splitLine(line)
	if !ok {
		return nil, "", LibraryError("Invalid library metadata")
	}
	name, named := "", false
	for _, w := range words[1:] {
		if len(w) < 5 || !strings.EqualFold(w[:5], "name=") {
			return nil, "", LibraryError("Invalid metadata value given: " + w)
		}
		if named {
			return nil, "", LibraryError(
				"Invalid metadata value, name argument was given multiple times")
		}
		name, named = w[5:], true
	}
	if !named {
		return nil, "", LibraryError("Library name was not given")
	}
	if !validLibraryName(name) {
		return nil, "", ErrLibraryName
	}
	return &Library{Name: name, Engine: words[0][2:], Code: code}, body, nil
}

// firstLine cuts the first line off a text. body begins with the line's end.
func firstLine(text string) (line, body string, ok bool) {
	end := strings.IndexByte(text, '\n')
	if end < 0 || strings.IndexByte(text[:end], 0) >= 0 { // C's strings end at a zero
		return "", "", false
	}
	return text[:end], text[end:], true
}

// splitLine splits a first line into words, with the quoting of inline requests.
func splitLine(line string) (words []string, ok bool) {
	var p resp.Parser
	argv, _, err := p.Next([]byte(line+"\n"), &resp.Limits{MaxInline: len(line) + 2})
	if err != nil || len(argv) == 0 {
		return nil, false
	}
	for _, a := range argv {
		words = append(words, string(a))
	}
	return words, true
}

// register adds a function to a library that is being loaded.
func (l *Library) register(f *Function) error {
	if !validLibraryName(f.Name) {
		return ErrLibraryName // redis-server uses the same words for both
	}
	if slices.ContainsFunc(l.Functions, func(o *Function) bool { return o.Name == f.Name }) {
		return ErrInLibrary
	}
	f.Library = l
	l.Functions = append(l.Functions, f)
	return nil
}

// LibrarySet holds the libraries of a server. The zero value is empty.
type LibrarySet struct {
	memory    int64 // of all libraries, in bytes
	libraries map[string]*Library
	functions map[string]*Function // by lower-case name
}

// Library returns the library with the given name, or nil.
func (s *LibrarySet) Library(name string) *Library { return s.libraries[name] }

// Function returns the function with the given name, in any case, or nil.
func (s *LibrarySet) Function(name []byte) *Function {
	if f := s.functions[string(name)]; f != nil {
		return f
	}
	return s.functions[strings.ToLower(string(name))]
}

// Len returns the numbers of libraries and functions.
func (s *LibrarySet) Len() (libraries, functions int) {
	for _, l := range s.libraries {
		functions += len(l.Functions) // also those hidden by another one's name
	}
	return len(s.libraries), functions
}

// Libraries returns all libraries, sorted by name.
func (s *LibrarySet) Libraries() []*Library {
	all := make([]*Library, 0, len(s.libraries))
	for _, l := range s.libraries {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b *Library) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// MayAdd returns an error if a library of that name cannot be added. Call it before running the
// library's code.
func (s *LibrarySet) MayAdd(name string, replace bool) error {
	if s.libraries[name] != nil && !replace {
		return LibraryError("Library '" + name + "' already exists")
	}
	return nil
}

// Add adds a library. With replace it takes the place of the library of the same name.
func (s *LibrarySet) Add(l *Library, replace bool) error {
	if err := s.MayAdd(l.Name, replace); err != nil {
		return err
	}
	if len(l.Functions) == 0 {
		return ErrNoFunctions
	}
	for _, f := range l.Functions {
		if old := s.functions[strings.ToLower(f.Name)]; old != nil && old.Library.Name != l.Name {
			return LibraryError("Function " + f.Name + " already exists")
		}
	}
	s.Delete(l.Name)
	s.link(l)
	return nil
}

func (s *LibrarySet) link(l *Library) {
	if s.libraries == nil {
		s.libraries, s.functions = map[string]*Library{}, map[string]*Function{}
	}
	s.libraries[l.Name] = l
	s.memory += l.bytes()
	for _, f := range l.Functions {
		if name := strings.ToLower(f.Name); s.functions[name] == nil {
			// Names of one library may differ in case only: the first wins.
			s.functions[name] = f
		}
	}
}

// Delete removes a library and reports whether it existed.
func (s *LibrarySet) Delete(name string) bool {
	l := s.libraries[name]
	if l == nil {
		return false
	}
	delete(s.libraries, name)
	s.memory -= l.bytes()
	for _, f := range l.Functions {
		delete(s.functions, strings.ToLower(f.Name))
	}
	return true
}

// Join adds all libraries of another set, or none.
func (s *LibrarySet) Join(o *LibrarySet, replace bool) error {
	var joined LibrarySet
	for _, l := range s.Libraries() {
		switch {
		case o.libraries[l.Name] == nil:
			joined.link(l)
		case !replace:
			return LibraryError("Library " + l.Name + " already exists")
		}
	}
	for _, l := range o.Libraries() {
		for _, f := range l.Functions {
			if joined.functions[strings.ToLower(f.Name)] != nil {
				return LibraryError("Function " + f.Name + " already exists")
			}
		}
	}
	for _, l := range o.libraries {
		joined.link(l)
	}
	*s = joined
	return nil
}

// Memory returns the estimated size of the libraries in bytes.
func (s *LibrarySet) Memory() int64 { return s.memory }

// bytes returns the size of a library: its code, the compiled code and its functions.
func (l *Library) bytes() int64 {
	const each = 200
	n := each + int64(len(l.Name)+len(l.Engine)+len(l.Code)) + l.compiled
	for _, f := range l.Functions {
		n += int64(each + 2*len(f.Name) + len(f.Description))
	}
	return n
}
