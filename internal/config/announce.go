package config

import (
	"net/netip"
	"strings"
)

// This file holds the grammar of what a node of a cluster announces of itself.

// hostName refuses characters that cannot be part of a host name.
func hostName(s string) error {
	if len(s) >= 256 {
		return reason("Hostnames must be less than 256 characters")
	}
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') && s[i] != '-' && s[i] != '.' {
			return reason("Hostnames may only contain alphanumeric characters, hyphens or dots")
		}
	}
	return nil
}

// announcedIP refuses what is no address that others could connect to.
func announcedIP(s string) error {
	if s == "" {
		return nil
	}
	addr, err := netip.ParseAddr(s)
	if err != nil || addr.Zone() != "" || addr.IsUnspecified() || addr.IsMulticast() {
		return reason("Argument must be an IPv4 or IPv6 address of this node")
	}
	return nil
}

// nodeName takes a name without the characters that separate things in a cluster's files.
func nodeName(at func(*Config) *string) value {
	v := str(at).(field[string])
	read := v.codec.read
	v.codec.read = func(args []string, old string, more bool) (string, error) {
		if len(args) == 1 && strings.ContainsAny(args[0], "!#$%&()*+:;<>?@[]^{|}~\x00") {
			return old, reason("Announced human node name contained invalid character")
		}
		return read(args, old, more)
	}
	return v
}
