package bus

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
)

// alien is a connection that does not speak the protocol of the bus. The text says what it speaks.
type alien struct{ text string }

func (a *alien) Error() string { return a.text }

// The first bytes of what comes by mistake.
var aliens = []struct {
	begins string
	text   string
}{
	{"RCmb", "it speaks Redis's gossip. Redis and Valkey nodes cannot join a Godwit cluster: " +
		"use CLUSTER MEET between Godwit nodes only, and move data in with replication"},
	{"\x16\x03", "it speaks TLS, and tls-cluster is no here"},
	{"GET ", "it speaks HTTP"},
	{"POST", "it speaks HTTP"},
	{"HEAD", "it speaks HTTP"},
	{"PING", "it is a client; clients use the other port"},
	{"-", "it answers as a port for clients does; the cluster bus is at another one"},
	{"*", "it is a client; clients use the other port"},
}

// errSelf says that a visit has come to the node that has begun it, or to one with its id.
var errSelf = errors.New("it is this node, or has the same id. Use CLUSTER RESET HARD there if it" +
	" is another one")

// classify returns an error for bytes that do not begin like a preamble.
func classify(first []byte) error {
	for _, a := range aliens {
		if bytes.HasPrefix(first, []byte(a.begins)) {
			return &alien{a.text}
		}
	}
	return &alien{fmt.Sprintf("it does not speak the cluster bus protocol: %q", first)}
}

// readPreamble reads and checks the other side's preamble. It looks at the first bytes as soon as
// they are here: a stranger may send no more.
func readPreamble(r io.Reader, pre *[preambleLen]byte) error {
	n, err := io.ReadAtLeast(r, pre[:], 4)
	if err != nil {
		return err
	}
	if string(pre[:min(n, len(magic))]) != magic[:min(n, len(magic))] {
		return classify(pre[:n])
	}
	if _, err := io.ReadFull(r, pre[n:]); err != nil {
		return unexpected(err)
	}
	if string(pre[:len(magic)]) != magic {
		return classify(pre[:])
	}
	if v := binary.BigEndian.Uint16(pre[len(magic):]); v != frameVersion {
		return &alien{fmt.Sprintf("it speaks version %d of the cluster bus, here it is %d", v,
			frameVersion)}
	}
	return nil
}

// explain returns what to log of an error of a link that did not open. The first result is a word
// for the kind of error, "" for one that happens every day.
func explain(err error) (reason, text string) {
	var a *alien
	var rec tls.RecordHeaderError
	var no *refusal
	switch {
	case errors.As(err, &a):
		return "alien", a.text
	case errors.As(err, &rec):
		if rec.RecordHeader[0] == magic[0] {
			return "plain", "it does not use TLS, and tls-cluster is yes here"
		}
		return "alien", classify(rec.RecordHeader[:]).Error()
	case errors.Is(err, errSelf):
		return "self", err.Error()
	case errors.Is(err, errFormer), errors.As(err, &no) && no.text == errFormer.Error():
		return "former", err.Error()
	case errors.Is(err, errSecret):
		return "secret", "it does not know our cluster-secret"
	case errors.As(err, &no):
		return "refused", fmt.Sprintf("it says: %q", no.text)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "slow", "it did not finish the handshake in time"
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, net.ErrClosed), errors.Is(err, syscall.EPIPE),
		errors.Is(err, io.ErrUnexpectedEOF):
		return "", "the connection was closed during the handshake"
	case strings.HasPrefix(err.Error(), "tls: ") || strings.Contains(err.Error(), "x509: ") ||
		strings.Contains(err.Error(), "remote error: tls"):
		return "tls", err.Error()
	}
	return "other", err.Error()
}
