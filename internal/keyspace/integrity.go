package keyspace

import "fmt"

// Check walks the tables of all databases, those of a shadow, the timing wheels with their records,
// and the arena's bookkeeping, and reports the first thing that does not add up. O(n); it is for
// tests.
func (ks *Keyspace) Check() error {
	for _, db := range ks.dbs {
		if err := db.store.check(); err != nil {
			return fmt.Errorf("database %d: %w", db.ID(), err)
		}
	}
	if err := ks.CheckRecords(); err != nil {
		return err
	}
	if err := ks.checkSizes(); err != nil {
		return err
	}
	if s := ks.shadow; s != nil && s.main == ks {
		if err := s.ks.Check(); err != nil {
			return fmt.Errorf("shadow: %w", err)
		}
	}
	return ks.A.Check()
}
