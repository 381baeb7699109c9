// Package command holds the command handlers, one file for each family, each entry of the command table beside its handler.
//
// A handler parses all its arguments, looks up, checks the type, acts, replies: nothing changes before the last possible error.
// Replies and error texts are Redis's to the byte.
package command

import (
	"slices"

	"godwit/internal/engine"
)

// Table builds and seals the table of all commands.
func Table() *engine.Table {
	return engine.NewTable(slices.Concat(
		stringCommands(), bitmapCommands(), hllCommands(), throttleCommands(),
		listCommands(), blockingCommands(),
		hashCommands(), setCommands(),
		zsetCommands(), zsetRangeCommands(), zsetOpCommands(),
		geoCommands(),
		bloomCommands(), cuckooCommands(), cmsCommands(), topkCommands(), tdigestCommands(),
		genericCommands(), expireCommands(), scanCommands(),
		sortCommands(), transactionCommands(), scriptCommands(), functionCommands(),
		connectionCommands(), clientCommands(), aclCommands(), pubsubCommands(),
		serverCommands(), configCommands(), commandInfoCommands(), infoCommands(), memoryCommands(),
		observeCommands(), debugCommands(),
		saveCommands(), waitCommands(), dumpCommands(), migrateCommands(),
		clusterCommands(), replicationCommands(), moduleCommands(),
	))
}
