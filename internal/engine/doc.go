// Package engine runs the commands that package spec describes: what runs each of them, the logical
// client, the gates that every command passes, statistics, propagation and the cron.
//
// # The executor
//
// All state below the engine belongs to whoever holds the executor: a loop calls Enter, runs the
// commands it has parsed with Exec, and calls Leave. With one I/O loop the lock is never contended.
// Nothing outside Enter … Leave may touch the engine, the keyspace or a Client's fields.
//
// # The files
//
// A file uses what is declared in the files above it, and nothing of those below it. A use is that
// of a function, method, type, constant, variable or field. Engine and Client hold the state of all
// parts: everyone may use their fields, and the types of these count for nobody. Package lint reads
// the order here and holds the files against it.
//
//	version.go          versions, and what the binary was built from
//	errors.go           error texts of the wire
//	refusal.go          what a gate says
//	process_unix.go     CPU times of the process and its children
//	process_linux.go    CPU time of the thread, resident and system memory
//	process_other.go    the same where it is not known
//	process_nounix.go   the same where it is not known
//	process.go          CPU times and memory of the machine
//	gomemory.go         the Go runtime's memory, and when giving some back is worth it
//
//	slotref.go          a slot of the cluster, or none
//
//	engine.go           Engine: the state of all parts
//	client.go           Client, Conn, the list of clients
//	scriptreply.go      large replies to the commands of a script
//	scripting.go        the script that runs: who called it, whether it is busy
//	clock.go            the wall clock and the steady clock
//	stats.go            counters of INFO, commands, errors; latency events
//	origin.go           who sent a command
//	ctx.go              Ctx: what a handler sees of its command
//	scriptmemory.go     memory of scripts, and dropping their stacks
//	loading.go          the state of a data set that is being read
//	persistence.go      what is known of saves, and what INFO says of them
//	confirmstate.go     replies that wait for replicas: the state
//	links.go            connections to other servers, those that MIGRATE keeps
//	transfers.go        the forms in which a snapshot is sent to a replica
//	specials.go         state that other servers may lack: the kinds, what is known of them
//	replicas.go         servers that copy this one: the types
//	master.go           the server that this one copies: the types
//	replication.go      the history of the data set: ids and offsets
//	masterkept.go       what may wait of the stream, and be kept of it during a synchronization
//	masterstate.go      what follows from the state of the link to the master
//	localkeys.go        keys that clients of a writable replica have changed
//	replicalist.go      what is known of replicas, and how many count
//	foreign.go          replicas that cannot hold all data
//	propagate.go        sending what commands change to log and replicas
//	syncpause.go        what a replica waits for that has lost its full synchronization
//	pausestate.go       the state of CLIENT PAUSE
//	cluster.go          the topology of the cluster as the gates and replies need it
//	clusterpeername.go  how nodes name themselves to each other
//	clustermigration.go  migrations of slots: the types, what is known of them
//	clusterlease.go     may this node confirm writes
//	clusterpart.go      what a node plays in its shard
//	clusterinsync.go    the replicas that have every confirmed write
//	replicagone.go      replicas whose connection is gone
//
//	watch.go            WATCH
//	multi.go            the queue of a transaction
//	masterinput.go      giving up a master that sends too much
//	table.go            the commands and what runs them
//	clustermigrateroute.go  which changes a migration must send
//	clustermigrateend.go  what the log is to say of migrations, losing a connection
//	blocking.go         clients that wait for keys: the types
//	blocking_line.go    those who wait for the same, deadlines
//	blocking_queue.go   beginning to wait, queues, what has happened to a key
//	waitaof.go          waiting for the append-only file to be on disk
//	expiremode.go       what time may do to keys
//	pause.go            CLIENT PAUSE
//	shutdownstate.go    how far a shutdown is
//	clusterreport.go    what a node tells of its data
//	clusterhold.go      writes that wait while a shard changes its master
//	failoverstate.go    how far a failover is
//	importing.go        import-mode
//
//	acl.go              users and the default user
//	clientmemory.go     memory of clients, maxmemory-clients
//	outputlimit.go      client-output-buffer-limit
//	backlog.go          the replication stream: its history, its readers and their limits
//	push.go             messages beside replies, buffers for them
//	waitreplicas.go     what replicas acknowledge, and waiting for it
//	clustermigratefeed.go  writing the streams of migrations
//	pubsub.go           subscriptions, PUBLISH, keyspace events
//	pubsub_fields.go    keyspace events with the fields of hashes
//	tracking.go         client-side caching
//	monitor.go          MONITOR
//	clientinfo.go       a line of CLIENT LIST
//	permit.go           may this user run this command
//	changes.go          who hears that a key has changed
//
//	commandlog.go       the logs of slow and large commands
//	hotkeys.go          which keys cost the most
//	slotstats.go        what commands cost by the slots of their keys
//	memory.go           used memory, maxmemory, giving memory back
//	hugepages.go        when full memory becomes huge pages
//	tablememory.go      memory of the engine's own tables
//	memoryreport.go     the figures of INFO memory and MEMORY
//	eviction.go         making room for a command
//	oom.go              what the system refuses
//	staging.go          large replies on their way to the connection
//
//	confirm.go          replies that wait until replicas have the writes
//	clustersync.go      changing the in-sync set
//	debugging.go        what DEBUG switches and shows
//	prefetch.go         reading ahead of commands
//	clusterroute.go     where the keys of a command are in the cluster
//	clusterforeign.go   what the stream of another cluster's shard may have
//	clusterverdict.go   redirections and other errors of the cluster
//	clustermigrategate.go  what a source of a migration must not send
//	clustergate.go      what the cluster says to a command
//	gates.go            what may refuse a command
//	masterbatch.go      what commands of the master's stream have in common
//	call.go             running a handler and accounting for it
//	nested.go           EXEC: commands within a command
//	scriptrun.go        scripts and functions, and the commands that they call
//	debugscript.go      the connection of a client that debugs a script
//	functions.go        the libraries of functions
//	blocking_serve.go   serving clients that wait, timeouts, CLIENT UNBLOCK
//	clusterwait.go      commands that wait for other nodes of the cluster
//	clusterpubsub.go    messages for other nodes, shard channels that leave
//	clustermoved.go     clients whose slots have left, the state of the cluster
//	exec.go             a client's command from its arguments to its reply
//	masterapply.go      what the master's stream has done, acknowledgements
//	executor.go         Enter and Leave, delivering what the batch has pushed
//
//	masterinfo.go       what INFO says of the link to the master
//	masterlink.go       attempts to link up with the master, losing the link
//	connections.go      clients come, go, are killed and reset
//	certificates.go     users by their certificates
//	aclusers.go         changing users, the ACL file
//	crashfacts.go       what a crash report says
//	replication_restore.go  where in a history the data set is, and going on there after a start
//	storehost.go        the engine as package persist sees it
//	asideload.go        loading data beside that which is served
//	save.go             SAVE, BGSAVE, save points, DEBUG RELOAD
//	rdbchannel.go       replicas that take snapshot and stream at once
//	synctransfer.go     a replica from a snapshot's moment until it follows the stream
//	syncfiles.go        replicas that are sent files written before
//	fullsync.go         snapshots for replicas, and how they are sent
//	clusterpeer.go      nodes that ask for the stream of their shard
//	psync.go            SYNC and PSYNC
//	replicacron.go      pings, timeouts, delays, the end of the backlog
//	masterattach.go     the client that applies the master's stream
//	mastersync.go       taking over the master's data set
//	role.go             becoming a replica, becoming a master
//	failover.go         FAILOVER: handing the role of the master over
//	clusterfacts.go     what replies tell of nodes beside the topology
//	clustersentinel.go  what clients of Sentinel ask and are told
//	clusterrole.go      the role of a node in its shard
//	clusterfollow.go    copying a shard of another cluster
//	clusterstray.go     keys of slots that other shards own
//	clusterhalf.go      keys of migrations that came to nothing
//	clustermigratesource.go  a migration on its source
//	clustermigratetarget.go  a migration on its destination
//	clusterinstall.go   a new topology, and what follows from it
//	shutdown.go         the data set at the end of the server
//	clusterhandover.go  a master that hands its shard over before it stops
//	shutdownwait.go     a shutdown that waits for replicas
//	defrag.go           active defragmentation
//	cron.go             periodic work and slices between commands
//	reconfigure.go      CONFIG SET
//	start.go            New
package engine
