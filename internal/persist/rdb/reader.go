package rdb

import "io"

// Kind is what a Record holds.
type Kind byte

// The kinds.
const (
	KindKey       Kind = iota + 1 // Key, Value, Meta, DB
	KindAux                       // Name, Text: an auxiliary field
	KindSelectDB                  // DB: the records that follow belong to it
	KindResize                    // Keys, Expires: how many the database has
	KindSlot                      // DB: the slot; Keys, Expires
	KindFunction                  // Text: the source of a library
	KindModuleAux                 // Name: the module whose data was skipped
	KindEOF                       // the end; the checksum was right
)

// Record is one record of a file.
type Record struct {
	Kind          Kind
	DB            int
	Offset        int64 // of its first byte
	Key           []byte
	Value         Value
	Meta          Meta
	Name          string
	Text          []byte
	Keys, Expires uint64
}

// ReadOptions change what a Reader does.
type ReadOptions struct {
	// NoChecksum leaves the checksum at the end unread (rdbchecksum no).
	NoChecksum bool
	// Workers is how many goroutines decode ahead of Next; 0: Next does it itself.
	Workers int
}

// Reader reads a file's records in order. Close it.
type Reader struct {
	src io.Reader
	o   ReadOptions
}

// NewReader begins to read at a file's first byte.
func NewReader(src io.Reader, o ReadOptions) *Reader { return &Reader{src: src, o: o} }

// Next is the next record, KindEOF being the last. What it holds is good until the next call. Errors other than those of the source are
// *Error; after any error the Reader is done. A file that ends too early is an *Error too.
func (r *Reader) Next() (*Record, error) { return nil, io.EOF }

// Version is the version that the file's header states, known after the first Next.
func (r *Reader) Version() int { return 0 }

// Offset is the number of bytes of the file up to the end of the last record that Next returned: behind KindEOF, of the whole RDB file with its
// checksum.
func (r *Reader) Offset() int64 { return 0 }

// Rest is what follows the file in the source after KindEOF: the commands of an append-only file that begins with an RDB file.
func (r *Reader) Rest() io.Reader { return nil }

// Close ends the goroutines. It does not close the source.
func (r *Reader) Close() {}
