package command

// infoDefrag writes the lines of INFO stats about active defragmentation. Times are in ms.
func infoDefrag(t *infoText) {
	ks := t.e.KS
	total, current := t.e.DefragTime()
	t.num("active_defrag_hits", ks.A.Moves.Hits)
	t.num("active_defrag_misses", ks.A.Moves.Misses)
	t.num("active_defrag_key_hits", ks.Stats.DefragKeyHits)
	t.num("active_defrag_key_misses", ks.Stats.DefragKeyMisses)
	t.num("total_active_defrag_time", total/1e6)
	t.num("current_active_defrag_time", current/1e6)
}
