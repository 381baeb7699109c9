// Package command holds the command handlers, one file or more for each family. Package spec says
// what each command is. The handlers function of each family maps the commands to their handlers.
//
// A handler parses all its arguments, looks up the key, checks its type, acts and replies. Nothing
// changes before the last possible error. Replies and error texts are Redis's, byte for byte.
// before the last possible error. Replies and error texts are Redis's to the byte.
package command

import (
	"godwit/internal/engine"
	"godwit/internal/spec"
)

// Table returns the table of all commands.
func Table() *engine.Table {
	t := engine.NewTable(spec.New(),
		stringHandlers(), bitmapHandlers(), hllHandlers(), throttleHandlers(), listHandlers(),
		blockingHandlers(), hashHandlers(), setHandlers(), zsetHandlers(), zsetRangeHandlers(),
		zsetOpHandlers(), geoHandlers(), bloomHandlers(), cuckooHandlers(), cmsHandlers(),
		topkHandlers(), tdigestHandlers(), genericHandlers(), expireHandlers(), scanHandlers(),
		sortHandlers(), transactionHandlers(), scriptHandlers(), functionHandlers(),
		connectionHandlers(), clientHandlers(), aclHandlers(), pubsubHandlers(),
		serverHandlers(), configHandlers(), commandInfoHandlers(), infoHandlers(),
		memoryHandlers(), observeHandlers(), debugHandlers(), saveHandlers(), waitHandlers(),
		dumpHandlers(), migrateHandlers(), clusterHandlers(), replicationHandlers(),
		moduleHandlers(),
	)
	t.SetTouch("bf.add", touchFilter)
	t.SetTouch("bf.exists", touchFilter)
	t.SetWriteNothing("eval", evalWritesNothing)
	t.SetWriteNothing("evalsha", evalshaWritesNothing)
	t.SetWriteNothing("fcall", fcallWritesNothing)
	return t
}
