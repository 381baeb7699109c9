package bus

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// The preamble is the first that either side says: six letters and the version of frames.
const (
	magic        = "GODBUS"
	frameVersion = 1
	preambleLen  = len(magic) + 2
	nonceLen     = 32
	maxHello     = 512
	maxRefusal   = 256
	idLen        = 40
)

// hello is what a side tells of itself before it proves anything.
//
//	nonce[32] │ protocol u16 │ flags u8 │ node[40] │ boot u64 │ process u64 │ more, of newer
//	versions
type hello struct {
	nonce    [nonceLen]byte
	protocol int
	visit    bool // the link is to an address, not to a known node
	node     string
	boot     uint64 // Options.Boot
	process  uint64 // drawn when the bus was made
}

const flagVisit = 1

func (h *hello) encode() []byte {
	buf := append([]byte(nil), h.nonce[:]...)
	buf = binary.BigEndian.AppendUint16(buf, uint16(h.protocol))
	flags := byte(0)
	if h.visit {
		flags = flagVisit
	}
	buf = append(append(buf, flags), h.node...)
	buf = binary.BigEndian.AppendUint64(buf, h.boot)
	return binary.BigEndian.AppendUint64(buf, h.process)
}

var errHello = errors.New("malformed hello")

func decodeHello(buf []byte) (*hello, error) {
	if len(buf) < nonceLen+3+idLen {
		return nil, errHello
	}
	h := &hello{nonce: [nonceLen]byte(buf),
		protocol: int(binary.BigEndian.Uint16(buf[nonceLen:])),
		visit:    buf[nonceLen+2]&flagVisit != 0,
		node:     string(buf[nonceLen+3:][:idLen])}
	if !isID(h.node) {
		return nil, fmt.Errorf("%w: node %q", errHello, h.node)
	}
	if h.protocol < lowestProtocol {
		return nil, fmt.Errorf("it speaks protocol %d of the cluster bus, %d is the lowest",
			h.protocol, lowestProtocol)
	}
	buf = buf[nonceLen+3+idLen:]
	if len(buf) < 16 {
		return nil, errHello
	}
	h.boot, h.process = binary.BigEndian.Uint64(buf), binary.BigEndian.Uint64(buf[8:])
	return h, nil
}

// isID reports whether the text is an id: 40 hexadecimal digits. What a stranger calls itself gets
// into the log.
func isID(s string) bool {
	if len(s) != idLen {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// refusal is what the other side says instead of a proof.
type refusal struct{ text string }

func (r *refusal) Error() string { return fmt.Sprintf("refused by the other side: %q", r.text) }

// errSecret says that the other side's proof is wrong.
var errSecret = errors.New("its cluster-secret is another one")

// talk is a challenge under way. said gets all that is signed.
type talk struct {
	rw     io.ReadWriter
	secret []byte
	said   []byte
}

// binding returns what only the two ends of a TLS connection know (RFC 5705), nothing for a plain
// one. The handshake must be over. A proof with it is worth nothing to who stands in between with
// a TLS connection to each side.
func (t *talk) binding() ([]byte, error) {
	c, ok := t.rw.(interface{ ConnectionState() tls.ConnectionState })
	if !ok {
		return nil, nil
	}
	state := c.ConnectionState()
	return state.ExportKeyingMaterial("EXPORTER-godwit-cluster-bus", nil, sha256.Size)
}

// preamble sends our preamble and hello in one piece.
func (t *talk) send(h *hello) error {
	if _, err := io.ReadFull(rand.Reader, h.nonce[:]); err != nil {
		return err
	}
	h.protocol = Protocol
	body := h.encode()
	out := binary.BigEndian.AppendUint16([]byte(magic), frameVersion)
	out = header{size: len(body), kind: kindHello}.appendTo(out)
	out = append(out, body...)
	t.said = append(t.said, out...)
	_, err := t.rw.Write(out)
	return err
}

// receive reads the other side's preamble and hello.
func (t *talk) receive() (*hello, error) {
	var pre [preambleLen]byte
	if err := readPreamble(t.rw, &pre); err != nil {
		return nil, err
	}
	body, err := readFrame(t.rw, kindHello, maxHello)
	if err != nil {
		return nil, err
	}
	t.said = append(t.said, pre[:]...)
	t.said = header{size: len(body), kind: kindHello}.appendTo(t.said)
	t.said = append(t.said, body...)
	return decodeHello(body)
}

// proof returns the MAC of one side over all that was said, on this connection.
func (t *talk) proof(side string) ([]byte, error) {
	bound, err := t.binding()
	if err != nil {
		return nil, err
	}
	m := hmac.New(sha256.New, t.secret)
	m.Write([]byte("godwit cluster bus, " + side + "\x00"))
	m.Write(t.said)
	m.Write(bound)
	return m.Sum(nil), nil
}

func (t *talk) sendProof(side string) error {
	mac, err := t.proof(side)
	if err != nil {
		return err
	}
	_, err = t.rw.Write(append(header{size: len(mac), kind: kindProof}.appendTo(nil), mac...))
	return err
}

func (t *talk) checkProof(side string) error {
	mac, err := readFrame(t.rw, kindProof, maxRefusal)
	if err != nil {
		return err
	}
	want, err := t.proof(side)
	if err != nil {
		return err
	}
	if !hmac.Equal(mac, want) {
		return errSecret
	}
	return nil
}

// differs returns what the side hears whose proof is wrong.
func (t *talk) differs() string {
	if bound, _ := t.binding(); bound != nil {
		return "cluster-secret differs, or something between the nodes ends TLS"
	}
	return "cluster-secret differs"
}

// refuse tells the other side why it is refused. Errors do not matter: the link closes.
func (t *talk) refuse(why string) {
	why = why[:min(len(why), maxRefusal)]
	_, _ = t.rw.Write(append(header{size: len(why), kind: kindRefused}.appendTo(nil), why...))
}

// call runs the challenge as the side that opened the connection. accept may refuse the other side
// by what it says of itself; then nothing is proven to it.
func call(rw io.ReadWriter, secret []byte, us *hello, accept func(*hello) error) (*hello, error) {
	t := &talk{rw: rw, secret: secret}
	if err := t.send(us); err != nil {
		return nil, err
	}
	them, err := t.receive()
	if err != nil {
		return nil, err
	}
	if err := accept(them); err != nil {
		return nil, err
	}
	if err := t.sendProof("caller"); err != nil {
		return nil, err
	}
	return them, t.checkProof("callee")
}

// answer runs the challenge as the side that accepted the connection. accept may refuse the caller
// after it has proven that it knows the secret; the caller is told the error's text.
func answer(rw io.ReadWriter, secret []byte, us *hello, accept func(*hello) error) (*hello, error) {
	t := &talk{rw: rw, secret: secret}
	them, err := t.receive()
	if err != nil {
		return nil, err
	}
	if err := t.send(us); err != nil {
		return nil, err
	}
	if err := t.checkProof("caller"); err != nil {
		if errors.Is(err, errSecret) {
			t.refuse(t.differs())
		}
		return nil, err
	}
	if err := accept(them); err != nil {
		t.refuse(err.Error())
		return nil, err
	}
	return them, t.sendProof("callee")
}
