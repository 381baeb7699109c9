package config

import (
	"fmt"
	"strconv"
	"strings"
)

// CompatVersion is the version of Redis that Godwit is equal to. The directive compat-version may
// name an earlier one.
const CompatVersion = "8.0.6"

const errVersion reason = "argument must be a version of Redis such as 7.2.4, at most " +
	CompatVersion

// VersionNum returns a version as one number, 0xMMmmpp, or false if it is none: three decimal
// numbers below 256 with dots between them.
func VersionNum(version string) (int, bool) {
	parts := strings.Split(version, ".")
	if len(parts) != 3 {
		return 0, false
	}
	num := 0
	for _, p := range parts {
		n, err := strconv.ParseUint(p, 10, 8)
		if err != nil || strconv.FormatUint(n, 10) != p {
			return 0, false
		}
		num = num<<8 | int(n)
	}
	return num, true
}

// compatVersion takes a version of Redis that is not above CompatVersion.
func compatVersion(at func(*Config) *string) value {
	most, _ := VersionNum(CompatVersion)
	return field[string]{codec[string]{
		syntax: fmt.Sprintf("major.minor.patch, at most %s", CompatVersion),
		read: one(func(s string) (string, error) {
			if n, ok := VersionNum(s); !ok || n == 0 || n > most {
				return "", errVersion
			}
			return s, nil
		}),
		show: func(v string) string { return v },
	}, at}
}
