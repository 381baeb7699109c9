package command

import (
	"math"

	"godwit/internal/acl"
	"godwit/internal/engine"
	"godwit/internal/object"
	"godwit/internal/slot"
)

// clusterFollowCmd carries out CLUSTER FOLLOW host port SLOTSRANGE start end [start end ...] [TLS]
// [AUTH password | AUTH2 username password], and CLUSTER FOLLOW NO ONE.
func clusterFollowCmd(c *engine.Ctx) {
	args := c.Args[2:]
	if !c.MayCopy(acl.Read | acl.Write) {
		return
	}
	if len(args) == 2 && is(args[0], "no") && is(args[1], "one") {
		okOrRefusal(c, c.E.StopFollowing(c.Client))
		return
	}
	port, ok := object.ParseInt(args[1])
	if !ok || port <= 0 || port > math.MaxUint16 {
		c.Err("ERR Invalid master port")
		return
	}
	f, ok := followedArgs(c, 4)
	if !ok {
		return
	}
	okOrRefusal(c, c.E.FollowShard(string(args[0]), int(port), f, c.Client))
}

// redactAuth keeps the user and the password of CLUSTER FOLLOW out of logs, whatever is wrong with
// the command.
func redactAuth(c *engine.Ctx, at int) {
	for ; at < len(c.Args); at++ {
		n := 0
		if is(c.Args[at], "auth") {
			n = 1
		} else if is(c.Args[at], "auth2") {
			n = 2
		}
		for ; n > 0 && at+1 < len(c.Args); n-- {
			at++
			c.Redact(at)
		}
	}
}

// followedArgs reads what follows the port, which begins at an argument. It reports false when it
// has replied with an error.
func followedArgs(c *engine.Ctx, at int) (f engine.Followed, ok bool) {
	for ; at < len(c.Args); at++ {
		more := len(c.Args) - 1 - at
		switch a := c.Args[at]; {
		case is(a, "slotsrange") && f.Slots.Empty():
			n := followedSlots(c, at+1, &f.Slots)
			if n < 0 {
				return f, false
			}
			at += n
		case is(a, "tls"):
			f.TLS = true
		case is(a, "auth") && more >= 1:
			f.User, f.Password = "", string(c.Args[at+1])
			at++
		case is(a, "auth2") && more >= 2:
			f.User, f.Password = string(c.Args[at+1]), string(c.Args[at+2])
			at += 2
		default:
			c.Err(engine.ErrSyntax)
			return f, false
		}
	}
	if f.Slots.Empty() {
		c.Err(engine.ErrSyntax)
		return f, false
	}
	return f, true
}

// followedSlots reads pairs of the first and last slot of a range, as long as there are numbers. It
// returns how many arguments these are, -1 when it has replied with an error.
func followedSlots(c *engine.Ctx, at int, set *slot.Set) (n int) {
	args := c.Args[at:]
	for n < len(args) {
		if _, number := object.ParseInt(args[n]); !number {
			break
		}
		n++
	}
	list, fault := slotRanges(args[:n], true)
	if fault == "" && (n == 0 || n%2 != 0) {
		fault = engine.ErrSyntax
	}
	if fault != "" {
		c.Err(fault)
		return -1
	}
	*set = slot.SetOf(list...)
	return n
}

// infoFollowed is the part of INFO replication about a shard of another cluster. f may be nil.
func infoFollowed(t *infoText, f *engine.Followed) {
	if f == nil {
		return
	}
	state := "follows"
	why, over := f.Fault()
	if over {
		state = "failed"
	} else if why != "" {
		state = "retries"
	}
	t.str("follow_slots", f.Slots.String())
	t.str("follow_state", state)
	t.str("follow_error", why)
}
