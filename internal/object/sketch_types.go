package object

import (
	"godwit/internal/tdigest"
	"godwit/internal/topk"
)

// The types of sketches have the names of the module types that they stand in for.
const (
	TypeBloom   Type = 7
	TypeCuckoo  Type = 8
	TypeCMS     Type = 9
	TypeTopK    Type = 10
	TypeTDigest Type = 11
)

func init() {
	sketch := func(t Type, name string, digest func(d *Digest, x *Edit)) {
		describe(t, Description{
			Name:      name,
			Encodings: []EncodingName{{EncSketch, "raw"}},
			Len:       func(x *Edit) int { return x.Sketch().Blocks() },
			Outline:   outlineSketch,
			Each:      eachBlock,
			Digest:    digest,
		})
	}
	sketch(TypeBloom, "MBbloom--", digestBlocks)
	sketch(TypeCuckoo, "MBbloomCF", digestBlocks)
	sketch(TypeCMS, "CMSk-TYPE", digestBlocks)
	sketch(TypeTopK, "TopK-TYPE", func(d *Digest, x *Edit) {
		d.Mix(topk.Open(x.Sketch()).AppendState(nil))
	})
	sketch(TypeTDigest, "TDIS-TYPE", func(d *Digest, x *Edit) {
		d.Mix(tdigest.Open(x.Sketch()).AppendState(nil))
	})
}

func outlineSketch(x *Edit, o *Outline) {
	s := x.Sketch()
	o.Len, o.Header = s.Blocks(), s.Head()
	for i := range o.Len {
		o.Blocks = append(o.Blocks, s.BlockLen(i))
	}
}

func eachBlock(x *Edit, visit func(el *Element) bool) {
	s := x.Sketch()
	for i := range s.Blocks() {
		x.el.Block, x.el.Value.B = i, s.Block(i)
		if !visit(&x.el) {
			return
		}
	}
}
