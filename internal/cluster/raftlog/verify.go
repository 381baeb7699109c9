package raftlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
)

// The format of bbolt's file, in the machine's byte order
//
//	page 0   meta  ┐ the one with the higher transaction number counts
//	page 1   meta  ┘
//	page …   the tree of buckets' names ─→ the tree of a bucket ─→ branch pages ─→ leaf pages
//
//	page:    id u64 │ flags u16 │ count u16 │ overflow u32 │ elements │ keys and values
//	branch:  pos u32 │ key length u32 │ page u64
//	leaf:    flags u32 │ pos u32 │ key length u32 │ value length u32
//	meta:    magic u32 │ version u32 │ page size u32 │ flags u32 │ root u64 │ sequence u64 │
//	         freelist u64 │ end u64 │ transaction u64 │ checksum u64
//
// pos counts from the element. A bucket is a leaf's element: root page u64, sequence u64, and if
// root is 0 a page of its own, without further ones.
//
// A meta page that is damaged is refused as well, although bbolt would go on with the other one:
// that is how the file was one transaction earlier, and the node may have told others about the
// last one. A torn write cannot damage one: what is written fits in a sector.
const (
	pageHeader = 16
	elementLen = 16
	metaLen    = 64
	bucketLen  = 16

	flagBranch = 0x01
	flagLeaf   = 0x02
	flagMeta   = 0x04

	bucketElement = 0x01

	metaMagic   = 0xED0CDAED
	metaVersion = 2
	noFreelist  = ^uint64(0)

	maxDepth = 64
	maxFile  = 1 << 30
)

// item is a record, which aliases the file's bytes.
type item struct{ key, value []byte }

// tree is a walk over the pages of a file.
type tree struct {
	data     []byte
	pageSize int
	end      uint64 // of the pages in use
	seen     map[uint64]bool
	items    []item
}

var native = binary.NativeEndian

// verify returns the records of the bucket, in the order of their keys. An error says what is wrong
// with the file.
func verify(data []byte) ([]item, error) {
	m, err := newestMeta(data)
	if err != nil {
		return nil, err
	}
	t := &tree{data: data, pageSize: m.pageSize, end: m.end, seen: map[uint64]bool{}}
	if m.end > uint64(len(data)/m.pageSize) {
		return nil, fmt.Errorf("it is cut off: %d bytes, but %d pages of %d bytes are in use",
			len(data), m.end, m.pageSize)
	}
	if m.freelist != noFreelist {
		return nil, errors.New("it was written by another program")
	}
	if err := t.walk(m.root, 0, nil, nil); err != nil {
		return nil, err
	}
	if len(t.items) != 1 || !bytes.Equal(t.items[0].key, bucketName) {
		return nil, errors.New("it was written by another program")
	}
	bucket := t.items[0].value
	t.items = nil
	if len(bucket) < bucketLen {
		return nil, errors.New("its bucket is damaged")
	}
	if root := native.Uint64(bucket); root != 0 {
		err = t.walk(root, 0, nil, nil)
	} else {
		err = t.leaf(bucket[bucketLen:], false, nil, nil)
	}
	return t.items, err
}

// metaPage is what a meta page says.
type metaPage struct {
	pageSize                  int
	root, freelist, end, txid uint64
}

// newestMeta returns the meta page that counts.
func newestMeta(data []byte) (m metaPage, err error) {
	first, err := readMeta(data, 0)
	if err != nil {
		return m, err
	}
	if len(data) < 2*first.pageSize {
		return m, errors.New("it is cut off")
	}
	second, err := readMeta(data[first.pageSize:], 1)
	if err != nil {
		return m, err
	}
	switch {
	case first.pageSize != second.pageSize || first.txid == second.txid:
		return m, errors.New("its first pages contradict each other")
	case first.txid > second.txid:
		return first, nil
	}
	return second, nil
}

func readMeta(page []byte, id uint64) (m metaPage, err error) {
	if len(page) < pageHeader+metaLen {
		return m, foreign(page)
	}
	body := page[pageHeader:]
	if native.Uint32(body) != metaMagic {
		return m, foreign(page)
	}
	h := fnv.New64a()
	h.Write(body[:metaLen-8])
	if native.Uint64(body[metaLen-8:]) != h.Sum64() {
		return m, fmt.Errorf("the checksum of page %d is wrong", id)
	}
	if v := native.Uint32(body[4:]); v != metaVersion {
		return m, fmt.Errorf("its version of bbolt's format is %d, not %d", v, metaVersion)
	}
	size := native.Uint32(body[8:])
	if size < 512 || size > 1<<20 || size&(size-1) != 0 ||
		native.Uint64(page) != id || native.Uint16(page[8:]) != flagMeta {
		return m, fmt.Errorf("page %d is damaged", id)
	}
	return metaPage{pageSize: int(size), root: native.Uint64(body[16:]),
		freelist: native.Uint64(body[32:]), end: native.Uint64(body[40:]),
		txid: native.Uint64(body[48:])}, nil
}

// foreign says what a file is that bbolt has not written.
func foreign(data []byte) error {
	switch {
	case len(data) == 0:
		return errors.New("it is empty")
	case bytes.Contains(data, []byte("vars currentEpoch")) ||
		bytes.Contains(data[:min(len(data), 200)], []byte(" myself,")):
		return errors.New("it is a nodes.conf of Redis or Valkey, which Godwit does not read")
	}
	return errors.New("it is damaged, or no file of Godwit's")
}

// page returns the bytes of a page with its overflow, which nothing else may use.
func (t *tree) page(id uint64) ([]byte, error) {
	if id < 2 || id >= t.end {
		return nil, fmt.Errorf("page %d does not exist", id)
	}
	p := t.data[id*uint64(t.pageSize):]
	n := uint64(native.Uint32(p[12:])) + 1
	if native.Uint64(p) != id || n > t.end-id {
		return nil, fmt.Errorf("page %d is damaged", id)
	}
	for i := id; i < id+n; i++ {
		if t.seen[i] {
			return nil, fmt.Errorf("page %d is used twice", i)
		}
		t.seen[i] = true
	}
	return p[:n*uint64(t.pageSize)], nil
}

// walk collects the items of the subtree. Its first key is the one that the page above has for it,
// low, unless there is none; bbolt looks it up by that. All keys are below high unless that is nil.
func (t *tree) walk(id uint64, depth int, low, high []byte) error {
	p, err := t.page(id)
	if err != nil {
		return err
	}
	switch flags := native.Uint16(p[8:]); {
	case flags == flagLeaf:
		return t.leaf(p, depth > 0, low, high)
	case flags != flagBranch || depth > maxDepth:
		return fmt.Errorf("page %d is damaged", id)
	}
	n := int(native.Uint16(p[10:]))
	if n == 0 {
		return fmt.Errorf("page %d is empty", id)
	}
	keys, children := make([][]byte, n), make([]uint64, n)
	for i := range n {
		at := pageHeader + i*elementLen
		if at+elementLen > len(p) {
			return fmt.Errorf("page %d is damaged", id)
		}
		keys[i], err = slice(p, at, native.Uint32(p[at:]), native.Uint32(p[at+4:]))
		if err != nil || i > 0 && bytes.Compare(keys[i-1], keys[i]) >= 0 {
			return fmt.Errorf("the keys of page %d are damaged", id)
		}
		children[i] = native.Uint64(p[at+8:])
	}
	if depth > 0 && !bytes.Equal(low, keys[0]) {
		return fmt.Errorf("the keys of page %d are damaged", id)
	}
	for i := range n {
		below := high
		if i+1 < n {
			below = keys[i+1]
		}
		if err := t.walk(children[i], depth+1, keys[i], below); err != nil {
			return err
		}
	}
	return nil
}

// leaf collects the items of a leaf page, or of the page within a bucket.
func (t *tree) leaf(p []byte, filled bool, low, high []byte) error {
	bad := errors.New("a page of records is damaged")
	if len(p) < pageHeader || native.Uint16(p[8:]) != flagLeaf {
		return bad
	}
	n := int(native.Uint16(p[10:]))
	if n == 0 && filled {
		return bad
	}
	for i := range n {
		at := pageHeader + i*elementLen
		if at+elementLen > len(p) {
			return bad
		}
		flags, pos := native.Uint32(p[at:]), native.Uint32(p[at+4:])
		ksize, vsize := native.Uint32(p[at+8:]), native.Uint32(p[at+12:])
		key, err := slice(p, at, pos, ksize)
		if err != nil {
			return bad
		}
		value, err := slice(p, at+int(ksize), pos, vsize)
		if err != nil || flags&^bucketElement != 0 ||
			(flags == bucketElement) != bytes.Equal(key, bucketName) {
			return bad
		}
		if bytes.Compare(key, low) < 0 || high != nil && bytes.Compare(key, high) >= 0 ||
			i == 0 && filled && !bytes.Equal(key, low) {
			return bad
		}
		low = append(key[:len(key):len(key)], 0) // the next key is at least this
		t.items = append(t.items, item{key, value})
	}
	return nil
}

// slice returns n bytes of the page, pos bytes behind at.
func slice(p []byte, at int, pos, n uint32) ([]byte, error) {
	from := uint64(at) + uint64(pos)
	if from+uint64(n) > uint64(len(p)) {
		return nil, errors.New("beyond the page")
	}
	return p[from : from+uint64(n)], nil
}
