package keyspace

import "fmt"

// Check walks the tables of all databases, the timing wheels with their records, and the arena's
// bookkeeping, and reports the first thing that does not add up. O(n); it is for tests.
func (ks *Keyspace) Check() error {
	for _, db := range ks.dbs {
		if err := db.store.check(); err != nil {
			return fmt.Errorf("database %d: %w", db.ID(), err)
		}
	}
	if err := ks.CheckRecords(); err != nil {
		return err
	}
	return ks.A.Check()
}
