package persist

import (
	"fmt"

	"godwit/internal/persist/rdb"
)

// notes returns what the operator should know of a file that was written: what made it unreadable
// for older servers, or what was left out for their sake. serious says that something is missing.
func (f *RDBFormat) notes() (notes []string, serious bool) {
	switch {
	case !f.o.Target.Fixed():
		return f.raised(), false
	case f.o.Whole:
		return f.whole(), false
	}
	notes = f.leftOut()
	return notes, len(notes) > 0
}

// raised says why a file has another version than rdb.Version.
func (f *RDBFormat) raised() []string {
	timed, s := &f.enc.Timed, &f.enc.Streams
	for _, r := range []struct {
		version              int
		t                    *rdb.Tally
		because, refuse, way string
	}{
		{rdb.VersionNacked, &s.Nacked, "%d streams have NACKed entries (XNACK)",
			"Redis before 8.8 and Valkey refuse",
			"12 or 80 to make them pending for a consumer without a name"},
		{rdb.VersionProducers, &s.Producers, "%d streams know what producers have added (IDMP)",
			"Redis before 8.6 and Valkey refuse", "12 or 80 to leave that out"},
		{rdb.VersionFieldDeadlines, timed, "fields of %d hashes have deadlines",
			"Redis before 7.4 and Valkey refuse",
			"80 to write for Valkey 9, or to 10 or 11 to leave the deadlines out"},
		{rdb.VersionStreams, &s.Groups, "%d streams have groups", "Redis before 7.2 refuses",
			"10 to leave out when their consumers were active"},
	} {
		if f.enc.Version == r.version && r.t.N > 0 {
			because := fmt.Sprintf(r.because, r.t.N)
			return []string{fmt.Sprintf("The RDB file has version %d, because %s, of key %.64q "+
				"first: %s it. Set rdb-version to %s", f.Version(), because, r.t.First,
				r.refuse, r.way)}
		}
	}
	return nil
}

// whole says why the servers of a version do not read the base of a log that was written for it.
func (f *RDBFormat) whole() []string {
	v, want := f.Version(), f.o.Target.Version()
	s := &f.enc.Streams
	switch {
	case v != want:
		return []string{fmt.Sprintf("The base of the AOF has version %d in spite of rdb-version "+
			"%d, which has no deadlines of fields, no functions or not all of streams", v, want)}
	case f.o.Target == rdb.ValkeyOwn && s.Producers.N+s.Nacked.N > 0:
		return []string{"The base of the AOF has streams with producers (IDMP) or with NACKed " +
			"entries (XNACK): Valkey refuses it"}
	}
	return nil
}

// leftOut says what the version could not tell.
func (f *RDBFormat) leftOut() (notes []string) {
	note := func(t *rdb.Tally, format string) {
		if t.N > 0 {
			notes = append(notes, fmt.Sprintf("rdb-version %d: "+format, f.Version(), t.N, t.First))
		}
	}
	s := &f.enc.Streams
	if !f.o.Target.FieldDeadlines() {
		note(&f.enc.Timed, "fields of %d hashes were written without their deadlines, of key "+
			"%.64q first; whoever loads the file keeps them for ever")
	}
	note(&s.Producers, "%d streams were written without what producers have added (IDMP), of key "+
		"%.64q first; what is sent again may be added twice")
	note(&s.Nacked, "NACKed entries (XNACK) of %d streams were written as pending "+
		"for a consumer without a name, of key %.64q first")
	switch f.o.Target {
	case rdb.Redis70:
		note(&s.Groups, "the groups of %d streams were written without the times when consumers "+
			"were active, of key %.64q first")
	case rdb.Redis5:
		note(&s.All, "%d streams were written without the numbers of entries ever added and "+
			"read, and without the largest ID deleted, of key %.64q first")
	}
	if n := len(f.o.Functions); n > 0 && !f.o.Target.Functions() {
		notes = append(notes, fmt.Sprintf("rdb-version %d: %d libraries of functions were left out",
			f.Version(), n))
	}
	return notes
}
