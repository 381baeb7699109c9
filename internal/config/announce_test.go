package config

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAnnounced has nodes announce addresses and names, good and bad ones.
func TestAnnounced(t *testing.T) {
	for line, refused := range map[string]bool{
		`cluster-announce-ip ""`:                                       false,
		"cluster-announce-ip 10.0.0.11":                                false,
		"cluster-announce-ip 2001:db8::7":                              false,
		"cluster-announce-ip 999.1.1.1":                                true,
		"cluster-announce-ip 0.0.0.0":                                  true,
		"cluster-announce-ip 224.0.0.1":                                true,
		"cluster-announce-ip fe80::1%eth0":                             true,
		"cluster-announce-ip 10.0.0.11:7000":                           true,
		`cluster-announce-ip "not an ip"`:                              true,
		"cluster-announce-ip a.example":                                true,
		"cluster-announce-hostname a-7.example":                        false,
		"cluster-announce-hostname a_7.example":                        true,
		"cluster-announce-hostname " + strings.Repeat("a", 255):        false,
		"cluster-announce-hostname " + strings.Repeat("a", 256):        true,
		"cluster-announce-hostname " + strings.Repeat("a.", 100):       false,
		`cluster-announce-hostname "` + strings.Repeat("a b", 2) + `"`: true,
	} {
		_, err := Parse("file", line+"\n")
		require.Equal(t, refused, err != nil, "%s: %v", line, err)
	}
}
