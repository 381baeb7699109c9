package command

import (
	"fmt"

	"godwit/internal/engine"
)

// trackingArgs are the options of CLIENT TRACKING.
type trackingArgs struct {
	engine.TrackingMode
	redirect uint64
	prefixes []string
}

// parse reads the options. It reports false if it has replied with an error.
func (a *trackingArgs) parse(c *engine.Ctx, args [][]byte) bool {
	for i := 0; i < len(args); i++ {
		more := i+1 < len(args)
		switch arg := args[i]; {
		case is(arg, "redirect") && more:
			i++
			if a.redirect != 0 {
				c.Err("ERR A client can only redirect to a single other client")
				return false
			}
			id, ok := intArg(c, args[i])
			if !ok {
				return false
			}
			if c.E.ClientByID(uint64(id)) == nil {
				c.Err("ERR The client ID you want redirect to does not exist")
				return false
			}
			a.redirect = uint64(id)
		case is(arg, "prefix") && more:
			i++
			a.prefixes = append(a.prefixes, string(args[i]))
		case is(arg, "bcast"):
			a.Bcast = true
		case is(arg, "optin"):
			a.OptIn = true
		case is(arg, "optout"):
			a.OptOut = true
		case is(arg, "noloop"):
			a.NoLoop = true
		default:
			c.Err(engine.ErrSyntax)
			return false
		}
	}
	return true
}

// conflict returns the error for options that contradict each other, or the way in which the client
// tracks already. It returns "" if there is none.
func (a *trackingArgs) conflict(cl *engine.Client) string {
	have := cl.Tracking()
	switch {
	case !a.Bcast && len(a.prefixes) > 0:
		return "ERR PREFIX option requires BCAST mode to be enabled"
	case have != nil && have.Bcast != a.Bcast:
		return "ERR You can't switch BCAST mode on/off before disabling tracking for this " +
			"client, and then re-enabling it with a different mode."
	case a.Bcast && (a.OptIn || a.OptOut):
		return "ERR OPTIN and OPTOUT are not compatible with BCAST"
	case a.OptIn && a.OptOut:
		return "ERR You can't specify both OPTIN mode and OPTOUT mode"
	case have != nil && (a.OptIn && have.OptOut || a.OptOut && have.OptIn):
		return "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this " +
			"client, and then re-enabling it with a different mode."
	}
	switch x, y, provided, clash := cl.PrefixClash(a.prefixes); {
	case clash && provided:
		return fmt.Sprintf(
			"ERR Prefix '%s' overlaps with another provided prefix '%s'. Prefixes for a single "+
				"client must not overlap.", x, y)
	case clash:
		return fmt.Sprintf(
			"ERR Prefix '%s' overlaps with an existing prefix '%s'. Prefixes for a single client "+
				"must not overlap.", x, y)
	}
	return ""
}

func clientTrackingCmd(c *engine.Ctx) {
	var a trackingArgs
	if !a.parse(c, c.Args[3:]) {
		return
	}
	switch arg := c.Args[2]; {
	case is(arg, "on"):
		if msg := a.conflict(c.Client); msg != "" {
			c.Err(msg)
			return
		}
		c.E.Track(c.Client, a.TrackingMode, a.redirect, a.prefixes)
	case is(arg, "off"):
		c.E.Untrack(c.Client)
	default:
		c.Err(engine.ErrSyntax)
		return
	}
	c.OK()
}

func clientCachingCmd(c *engine.Ctx) {
	t := c.Client.Tracking()
	if t == nil {
		c.Err("ERR CLIENT CACHING can be called only when the client is in tracking mode with " +
			"OPTIN or OPTOUT mode enabled")
		return
	}
	switch arg := c.Args[2]; {
	case is(arg, "yes") && !t.OptIn:
		c.Err("ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.")
	case is(arg, "no") && !t.OptOut:
		c.Err("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.")
	case is(arg, "yes"), is(arg, "no"):
		t.Caching = true
		c.OK()
	default:
		c.Err(engine.ErrSyntax)
	}
}

func clientTrackinginfoCmd(c *engine.Ctx) {
	t := c.Client.Tracking()
	var prefixes, flags []string
	if t == nil {
		flags = []string{"off"}
	} else {
		prefixes = t.Prefixes
		for _, f := range []struct {
			name string
			on   bool
		}{
			{"on", true}, {"bcast", t.Bcast}, {"optin", t.OptIn},
			{"caching-yes", t.OptIn && t.Caching}, {"optout", t.OptOut},
			{"caching-no", t.OptOut && t.Caching}, {"noloop", t.NoLoop},
			{"broken_redirect", t.Broken},
		} {
			if f.on {
				flags = append(flags, f.name)
			}
		}
	}
	c.Map(3)
	c.BulkString("flags")
	c.Set(len(flags))
	for _, f := range flags {
		c.BulkString(f)
	}
	c.BulkString("redirect")
	c.Int(c.Client.RedirectID())
	c.BulkString("prefixes")
	c.Array(len(prefixes))
	for _, p := range prefixes {
		c.BulkString(p)
	}
}
