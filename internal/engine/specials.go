package engine

// What commands change is propagated in the words of Redis 7.0, if that can be said in them. Some
// state cannot, because only Godwit has it, or only newer servers do: the specials. A replica that
// lacks one could neither load such values nor carry out their commands, and its data would differ
// from then on. Under repl-foreign-sketches refuse there is no such replica: it gets no
// synchronization while there are such values, and is disconnected when the first one comes.

// refuseForeign is the value of repl-foreign-sketches by which such replicas are refused.
const refuseForeign = "refuse"

// special is a kind of state that servers other than Godwit may lack.
type special uint8

// The specials.
const (
	specialSketches  special = iota // BF.*, CF.*, CMS.*, TOPK.*, TDIGEST.*
	specialProducers                // XADD IDMP, XCFGSET
	specialNacked                   // XNACK
	specialFields                   // HEXPIRE and its kin
	numSpecials
)

// specialCount is how many values of a special there are, 0 only if there is none, and how many
// have come in all.
type specialCount struct {
	now  int
	ever int64
}

type specialCounts [numSpecials]specialCount

// foreignState is what is known of the specials in the stream: of what replicas may lack.
type foreignState struct {
	upto   [numSpecials]int64 // offset up to which the stream may have commands of one
	counts specialCounts      // as of the last unit
	told   map[string]int64   // steady ms when a replica's refusal was logged last, by its name
}
