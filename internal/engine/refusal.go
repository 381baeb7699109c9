package engine

// refusal is what a list of gates says: an error text, or one of the constants below.
type refusal string

const (
	passed refusal = ""         // the command may run
	closed refusal = "(closed)" // its client is being closed, and is told nothing
	held   refusal = "(held)"   // it comes again when what holds it ends
)
