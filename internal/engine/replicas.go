package engine

import (
	"net"
	"slices"

	"godwit/internal/backlog"
	"godwit/internal/cluster/topology"
	"godwit/internal/persist"
)

// replicas are the servers that copy this one's data.
type replicas struct {
	list    []*Replica
	backlog *backlog.Backlog // nil: no replica has been here
	fed     int64            // offset up to which connections know that there is something
	full    *fullSync        // the snapshot that is being made for replicas, nil if none is
	made    []*backlog.Pipe  // snapshots that are made, of which some may still be on their way
	filed   *fullSync        // the last one to a file that is still in use, nil if there is none
	files   syncFiles
	good    int // of them, as min-replicas-to-write counts
	lost    map[string]*lostSyncs

	alone  int64 // steady ms since when there are none
	pinged int64 // steady ms
	cronAt int64 // steady ms

	ask   bool // for REPLCONF ACK at the end of the batch
	acked bool // one has come since those who wait for it were served

	foreign foreignState

	netOut int64 // bytes sent to replicas
}

// ReplicaState is how far a replica is.
type ReplicaState uint8

// The states.
const (
	ReplicaNone   ReplicaState = iota // it has sent REPLCONF, maybe; it is a client like any other
	ReplicaWaits                      // for a snapshot to begin
	ReplicaPairs                      // the same, and it gets it over a second connection
	ReplicaLoads                      // it is sent one
	ReplicaBoth                       // it is sent one over the second connection, and the stream
	ReplicaLoaded                     // it was sent one and wants nothing more (rdb-only)
	ReplicaOnline                     // it follows the stream
)

// String returns the word that INFO has for the state.
func (s ReplicaState) String() string {
	return [...]string{"none", "wait_bgsave", "wait_bgsave", "send_bulk", "send_bulk_and_stream",
		"rdb_transmitted", "online"}[s]
}

// Replica is a server that copies this one's data: what it has said of itself by REPLCONF, and how
// far it is.
type Replica struct {
	Client *Client
	State  ReplicaState

	// IP and Port are where the replica says that it listens; "" and 0 if it has not.
	IP   string
	Port int64
	// These are its capabilities. Unknown ones are ignored.
	CapEOF, CapPsync2, CapRDBChannel, CapGodwit bool
	// Version is Valkey's: major, minor and patch in a byte each; 0 if it is none.
	Version int
	// These are what it wants of a snapshot.
	RDBOnly, FunctionsOnly, NoCompress, NoChecksum bool

	// node is its name, if it is a node of this cluster that has said so.
	node topology.NodeID

	main    *Replica // its connection is the RDB channel of that one, nil if it is not
	channel *Replica // its RDB channel, nil if it has none
	conn    StreamConn
	legacy  bool            // it has sent SYNC: it knows neither offsets nor ACK
	reader  *backlog.Reader // of the stream; pinned from the beginning of the snapshot on
	from    int64           // offset that it began at
	onACK   bool            // the stream begins with the first REPLCONF ACK
	streams bool            // the connection writes the stream
	settled bool            // it has acknowledged some of it
	lost    bool            // noteLostSync has counted it
	since   int64           // steady ms, of the state
	acked   int64           // offset that it has
	synced  int64           // offset that it has on disk, -1 if it does not say
	ackedAt int64           // steady ms
	soft    int64           // steady ms since when it is over the soft output limit, 0 if it is not
}

// lostSyncs are the attempts of a replica that have failed in a row.
type lostSyncs struct {
	n  int
	at int64 // steady ms of the last
}

// StreamConn is a Conn that can be sent a snapshot and the replication stream. Its methods are
// called with the executor held.
type StreamConn interface {
	Conn
	// Stream has the connection write what the reader has, behind all replies so far, from the next
	// Flush on. The reader is closed when the client is forgotten; the connection may be in the
	// middle of a write then.
	Stream(r *backlog.Reader)
	// Fed tells a connection with a stream that there is more of it.
	Fed()
	// Transfer calls write on a goroutine, after the next Flush and when all replies so far are
	// written, and then done with the executor held. Nothing else is written meanwhile. w is the
	// connection. If the client is closed before that, writing to w fails, and done is called with
	// the error.
	Transfer(write func(w net.Conn) error, done func(error))
	// NoDelay says whether small writes leave at once.
	NoDelay(on bool)
}

// syncNeed is what a replica needs of a snapshot. Replicas with the same need share one.
type syncNeed struct {
	o        persist.SyncOptions
	diskless bool
}

// fullSync is a snapshot that is being made for replicas.
type fullSync struct {
	members []*Replica
	pipe    *backlog.Pipe // nil: to a file
	file    *syncFile
	began   int64 // steady ms
	need    syncNeed
	id      string          // of the history at its moment
	at      int64           // offset of its moment
	made    bool            // all of it is in the pipe or in the file
	names   map[string]bool // of members, now or before, of a file
}

// end ends the transfers of a snapshot that has failed.
func (f *fullSync) end(err error) {
	if f.pipe != nil {
		f.pipe.End(err)
	}
	if f.file != nil {
		f.file.release(len(f.members))
	}
}

// leave takes a replica out that is gone. A snapshot that nobody wants any more fails by itself.
func (f *fullSync) leave(r *Replica) {
	for i, m := range f.members {
		if m != r {
			continue
		}
		f.members[i] = nil
		if f.pipe != nil {
			f.pipe.Reader(i).Close()
		}
	}
}

// writes reports whether the snapshot is being made for the replica, and goes to a file.
func (f *fullSync) writes(r *Replica) bool {
	return f != nil && f.file != nil && slices.Contains(f.members, r)
}

// wanted reports whether a replica is left.
func (f *fullSync) wanted() bool {
	for _, m := range f.members {
		if m != nil {
			return true
		}
	}
	return false
}

// syncFiles is what is known of files that replicas are sent instead of a snapshot.
type syncFiles struct {
	held *persist.SnapshotFile // is being written, and replicas wait for it; or nil
	hold *backlog.Reader       // pins the stream from there on; nil: too much of it
}

// release ends what was kept for replicas that wait.
func (f *syncFiles) release() {
	if f.hold != nil {
		f.hold.Close()
	}
	f.held, f.hold = nil, nil
}
