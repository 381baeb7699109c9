package engine

func (e *Engine) BeginUnit() {}
func (e *Engine) EndUnit()   {}
func (e *Engine) DropUnit()  {}
