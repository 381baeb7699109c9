package upstream

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNotYet reports a source of a migration that cannot send the keys now, but will.
var ErrNotYet = errors.New("the source is not ready")

// SyncSlots logs in to the source of a migration, and asks it for the keys with the command begin.
// They follow as a stream of commands.
func (c *Conn) SyncSlots(user, password string, begin []string) error {
	h := Hello{User: user, Password: password}
	commands := [][]string{begin}
	if auth := h.auth(); auth != nil {
		commands = [][]string{auth, begin}
	}
	for _, argv := range commands {
		// One after the other: the source takes BEGIN when it has nothing left to say.
		if err := c.send(argv); err != nil {
			return err
		}
		line, err := c.line()
		switch {
		case err != nil:
			return err
		case strings.HasPrefix(line, "+"):
		case hasPrefix(line, "-TRYAGAIN", "-LOADING", "-BUSY"):
			return fmt.Errorf("%s (%w)", show(line), ErrNotYet)
		default:
			return fmt.Errorf("it answers %s with: %s", argv[0], show(line))
		}
	}
	return nil
}
