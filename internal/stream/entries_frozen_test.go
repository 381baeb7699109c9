package stream

import (
	"slices"

	"github.com/stretchr/testify/require"
)

func (m *entryModel) stepFrozen() {
	done := m.f.Step(m.rng.IntN(5), func(p *Part) {
		m.parts = append(m.parts, p.Kind)
		if p.Kind == PartEntries {
			m.given = append(m.given, partEntries(m.t, p)...)
		}
	})
	if done {
		require.Len(m.t, m.parts, m.f.Parts())
		require.True(m.t, slices.IsSorted(m.parts))
		require.Equal(m.t, m.frozen, append([]modelEntry{}, m.given...))
		require.Equal(m.t, len(m.frozen), m.f.Meta().Len)
		m.closeFrozen()
	}
}

func (m *entryModel) closeFrozen() {
	if m.f != nil {
		m.f.Close()
		now, _ := m.f.Copied()
		require.Zero(m.t, now)
		m.f = nil
	}
}
