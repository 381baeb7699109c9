package soak

import "fmt"

// scenario is a load, and what it must show besides the bounds that hold for all.
type scenario struct {
	name     string
	config   string // for CONFIG SET
	inFlight int64  // what its clients have in flight at most: requests and replies
	load     func(*run)
	check    func(ours figures) string         // returns a fault or nothing
	compare  func(ours, theirs figures) string // returns a difference or nothing
}

// scenarios are in the order in which they run.
var scenarios = append(append(named, fills()...), chaoses()...)

// named are the loads that once brought a server down or made it waste memory.
var named = []scenario{
	{name: "sparse table", config: "maxmemory-policy allkeys-lru", load: sparseTable},
	{name: "large into small", config: "maxmemory 100mb maxmemory-policy allkeys-lru",
		inFlight: mb, load: largeIntoSmall},
	{name: "distinct deadlines", config: "maxmemory 40mb maxmemory-policy allkeys-lru",
		load: distinctDeadlines},
	{name: "dead deadlines", load: deadDeadlines, check: markAtMost(mb)},
	{name: "BITOP of 84 MB", config: "maxmemory 300mb maxmemory-policy noeviction", load: bitopNot},
	{name: "ZUNIONSTORE", load: unionStore, compare: unionAtMost},
	{name: "8 MB of 1 MB values", config: "maxmemory 8mb maxmemory-policy allkeys-lru",
		inFlight: 5 * mb, load: smallCache},
	{name: "unread replies", load: unreadReplies, check: countedAtLeast(200 * mb)},
	{name: "scripts' memory", load: deepCoroutines},
	{name: "holes", config: "maxmemory 0", load: holes, check: compact},
	{name: "streams", config: "maxmemory 8mb maxmemory-policy allkeys-lru", inFlight: 2 * mb,
		load: streamsAtLimit},
	{name: "LRU by Zipf", config: "maxmemory 12mb maxmemory-policy allkeys-lru", load: zipfCache},
	{name: "LFU by Zipf", config: "maxmemory 12mb maxmemory-policy allkeys-lfu", load: zipfCache},
}

func zipfCache(r *run) { cacheAside(r, 200000, 600000*r.size) }

// fills returns caches full of values of mixed sizes, one for each policy.
func fills() []scenario {
	var all []scenario
	for _, policy := range policies {
		all = append(all, scenario{name: "mixed, " + policy, inFlight: largestSize,
			config: "maxmemory 30mb maxmemory-policy " + policy,
			load:   func(r *run) { fill(r, 300000*r.size, setMixed(10)) }})
	}
	return all
}

// chaoses returns chaos loads, one for each policy.
func chaoses() []scenario {
	var all []scenario
	for _, policy := range policies {
		all = append(all, scenario{name: "chaos, " + policy,
			inFlight: (chaosWorkers + 1) * 2 * largestSize,
			config:   fmt.Sprintf("maxmemory %d maxmemory-policy %s", chaosLimit, policy),
			load:     chaos})
	}
	return all
}

var policies = []string{"allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru",
	"volatile-lfu", "volatile-random", "volatile-ttl", "noeviction"}

// unionAtMost allows twice what Redis takes. In both servers the result exists twice for a moment.
func unionAtMost(ours, theirs figures) string {
	if ours.mark <= 2*theirs.mark {
		return ""
	}
	return fmt.Sprintf("%s MB at the peak, Redis %s", megabytes(ours.mark), megabytes(theirs.mark))
}

// countedAtLeast returns a check that used_memory showed what clients had not read.
func countedAtLeast(bytes int64) func(figures) string {
	return func(ours figures) string {
		if ours.mark >= bytes {
			return ""
		}
		return fmt.Sprintf("used_memory shows %s MB of unread replies", megabytes(ours.mark))
	}
}

func compact(ours figures) string {
	if ours.frag < 1.3 {
		return ""
	}
	return fmt.Sprintf("mem_fragmentation_ratio %.2f ten seconds after 70 %% were deleted",
		ours.frag)
}
