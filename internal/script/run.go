package script

import (
	"strconv"
	"strings"
	"time"

	"godwit/internal/lua"
	"godwit/internal/resp"
)

// failure says where the error that ended a script was raised.
type failure struct {
	source string
	line   int
}

// begin prepares the environment for a run.
func (s *State) begin() {
	s.L.Begin()
	s.proto, s.calling = 2, false
	s.looked, s.failure = time.Time{}, failure{}
}

// ended forgets what a run has left behind.
func (s *State) ended() {
	s.L.Reset()
	s.ran = true
	clear(s.argv[:cap(s.argv)])
}

// interrupt is asked by the machine every so many steps whether to go on.
func (s *State) interrupt() error {
	now := time.Now()
	if s.looked.IsZero() {
		s.looked = now
	}
	if now.Sub(s.looked) < time.Millisecond {
		return nil
	}
	s.calling = true // crashed looks at it
	err := s.caller.Interrupt()
	s.calling = false
	s.looked = time.Now()
	if s.debug != nil && err == nil {
		err = s.debug.overtime(s.looked)
	}
	return err
}

// invoke calls a function with arguments and writes its results as the reply. name is the script's
// name in messages.
func (s *State) invoke(fn lua.Value, name string, w *resp.Writer, args ...lua.Value) {
	t := s.L.Main
	t.Push(fn)
	for _, a := range args {
		t.Push(a)
	}
	v, ok := t.Try(len(args), 1)
	if s.surface() {
		s.fail(w, errPanic{}.Error(), false)
		return
	}
	if !ok || !s.reply(t.Pop(), w) {
		msg, counted := s.failed(v, name)
		s.fail(w, msg, counted)
	}
	s.ended()
}

// fail writes an error into the reply. counted says that a command has counted it already.
func (s *State) fail(w *resp.Writer, msg string, counted bool) {
	w.Error(msg)
	s.caller.Failed(msg, counted)
}

// uncaught notes where the error was raised that ends the script. As in Redis, this is the function
// that raised it or, if that is one of Go, its caller.
func (s *State) uncaught(t *lua.Thread, _ lua.Value) {
	s.failure = failure{}
	for level := range 2 {
		source, line, ok := t.Position(level)
		if !ok {
			continue
		}
		if name, ok := t.Chunk(level); ok {
			source = strings.Clone(name)
		} else {
			source = "@" + source
		}
		s.failure = failure{source, line}
		return
	}
}

// failed returns the error reply for an error that the script has not caught, and whether a command
// has counted it.
func (s *State) failed(v lua.Value, name string) (msg string, counted bool) {
	msg, counted = s.errorText(v)
	if s.failure.source != "" {
		msg += " script: " + name + ", on " + s.failure.source + ":" +
			strconv.Itoa(s.failure.line) + "."
	}
	return msg, counted
}

// errorText returns the text of an uncaught error, and whether a command has counted it. The text
// may share bytes with the script's strings.
func (s *State) errorText(v lua.Value) (msg string, counted bool) {
	var text, known lua.Value
	t := v.Table()
	if t != nil {
		text, known = s.errorField(t, s.keys.err), s.errorField(t, s.keys.counted)
	}
	if err := s.L.Ended(); err != nil {
		if err == lua.ErrMemory {
			return "ERR " + err.Error(), false
		}
		return err.Error(), false
	}
	if t == nil {
		return "ERR " + lua.CString(display(v)), false
	}
	msg, ok := lua.ToText(text)
	if !ok {
		msg = "ERR unknown error"
	}
	return lua.CString(msg), known.Kind() == lua.KindBool
}

// errorField returns a field of an error, metamethods included. It is nil if they fail.
func (s *State) errorField(t *lua.Table, k key) lua.Value {
	if v := k.of(t); !v.IsNil() || t.Metatable == nil {
		return v
	}
	defer func(f failure) { s.failure = f }(s.failure)
	index := lua.Native{Fn: func(t *lua.Thread) int {
		return t.Return(t.Index(t.Arg(1), t.Arg(2)))
	}}
	v, ok := s.L.Current().Evaluate(lua.NativeValue(&index), lua.TableValue(t), k.v)
	if !ok {
		return lua.Nil
	}
	return v
}

// display formats any value for a message.
func display(v lua.Value) string {
	if str, ok := lua.ToText(v); ok {
		return str
	}
	switch v.Kind() {
	case lua.KindBool:
		return strconv.FormatBool(v.Truthy())
	case lua.KindNil:
		return "nil"
	}
	return lua.ObjectName(v)
}
