package config

import (
	"errors"
	"strings"
)

// SlotStats say which statistics of slots are kept, beside the number of keys.
type SlotStats int

// The statistics, by their names in cluster-slot-stats-enabled. "yes" is all of them, "no" none.
const (
	SlotStatsCPU SlotStats = 1 << iota // cpu: time spent
	SlotStatsNet                       // net: bytes received and sent
	SlotStatsMem                       // mem: bytes of keys and values

	slotStatsAll = SlotStatsCPU | SlotStatsNet | SlotStatsMem
)

var slotStatsNames = []string{"cpu", "net", "mem"}

// String returns the value as CONFIG GET shows it.
func (v SlotStats) String() string {
	switch v {
	case 0:
		return "no"
	case slotStatsAll:
		return "yes"
	}
	var names []string
	for i, name := range slotStatsNames {
		if v>>i&1 != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// slotStats is a directive with SlotStats as value.
func slotStats(at func(*Config) *SlotStats) value {
	return field[SlotStats]{codec[SlotStats]{
		syntax: "yes|no|cpu|net|mem",
		read: func(args []string, old SlotStats, _ bool) (SlotStats, error) {
			v, err := parseSlotStats(args)
			if err != nil {
				return old, err
			}
			return v, nil
		},
		show: SlotStats.String,
	}, at}
}

func parseSlotStats(args []string) (v SlotStats, err error) {
	words := strings.Fields(strings.Join(args, " "))
	if len(words) == 1 {
		switch strings.ToLower(words[0]) {
		case "yes":
			return slotStatsAll, nil
		case "no":
			return 0, nil
		}
	}
	for _, w := range words {
		i := indexFold(slotStatsNames, w)
		if i < 0 {
			return 0, errSlotStats
		}
		v |= 1 << i
	}
	if v == 0 {
		return 0, errSlotStats
	}
	return v, nil
}

var errSlotStats = errors.New("argument must be 'yes', 'no' or any of 'cpu', 'net' and 'mem'")
