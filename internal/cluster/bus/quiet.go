package bus

import (
	"sync"
	"time"

	"godwit/internal/logging"
)

// quiet logs warnings that strangers can cause: of each kind one line a minute, and a limited
// number of kinds.
type quiet struct {
	log *logging.Logger

	mu    sync.Mutex
	kinds map[string]*muted
}

type muted struct {
	since   time.Time
	skipped int
}

const (
	quietFor   = time.Minute
	quietKinds = 64
	crowd      = "\x00crowd" // the kind of all those that are too many
)

// warn logs a line, unless one of its kind was logged in the last minute. The next line says how
// many were left out.
func (q *quiet) warn(kind, format string, args ...any) {
	now := time.Now()
	q.mu.Lock()
	if q.kinds == nil {
		q.kinds = map[string]*muted{}
	}
	if q.kinds[kind] == nil && len(q.kinds) >= quietKinds {
		for k, m := range q.kinds {
			if now.Sub(m.since) > quietFor {
				delete(q.kinds, k)
			}
		}
		if len(q.kinds) >= quietKinds {
			kind = crowd
		}
	}
	m := q.kinds[kind]
	if m != nil && now.Sub(m.since) < quietFor {
		m.skipped++
		q.mu.Unlock()
		return
	}
	skipped := 0
	if m != nil {
		skipped = m.skipped
	}
	q.kinds[kind] = &muted{since: now}
	q.mu.Unlock()
	if skipped > 0 {
		format += " (%d more such lines were left out)"
		args = append(args, skipped)
	}
	q.log.Warning(format, args...)
}
