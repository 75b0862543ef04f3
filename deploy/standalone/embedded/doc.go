// Package embedded runs a Temporal server, and its Web UI, inside this process. Its data is in a SQLite file, or in
// PostgreSQL.
//
//	srv, err := embedded.Start(ctx, embedded.Options{DataDir: "./data", Port: 7233, UIPort: 8233})
//	if err != nil { … }
//	defer srv.Stop()
//	c, err := client.Dial(client.Options{HostPort: srv.Address()})
//
// When Start returns, the server answers, the namespace exists with the wanted retention and the search
// attributes can be used. Stop drains it: first the Web UI, then the server, then the lock.
//
// # Files
//
//	server.go     Start and Stop, in the order things depend on each other
//	options.go    Options and their defaults
//	temporal.go   the server: one process, four services
//	storage.go    the database, of either kind
//	settings.go   the dynamic configuration, one reason per line
//	schema.go     the database file and its schema version
//	migrate.go    migration from an older schema
//	indexes.go    removal of list indexes that are not used
//	store/        the connection to the file, and the driver
//	autoscaling/  stands in for a module of the server, which starts workers in clouds
//	postgres/     the databases in PostgreSQL: schemas, and one server at a time
//	lock.go       one process per data directory
//	replace.go    atomic replacement of files
//	ports.go      free and taken ports; ports_linux.go, ports_other.go how they are kept until the server listens
//	room.go       whether the disk is full
//	namespace.go  namespace, retention and search attributes, ensured at every boot
//	started.go    tasks that workers held, or that waited in their sticky queues, when the server died
//	ui.go         the Web UI
//	log.go        forwards the server's warnings and errors
//
// # The data directory
//
//	temporal.db         the database of the server (with -wal and -shm)
//	temporal.db.schema  its schema version. An older schema is migrated with the server's own files, after a copy of the
//	                    database; any other is refused
//	temporal.db.server  the version of the Temporal server that created or migrated it, for information
//	temporal.db.before-VERSION, temporal.db.schema.before-VERSION
//	                    the database before the migration to VERSION; may be deleted
//	temporal.db.room    exists briefly, for the check whether the disk is full
//	agent.lock          locked while a process uses the directory; contains its process ID
//	restore.unfinished  while a backup is restored; no server starts then
//
// To start over, stop the process and move the directory away. Package backup copies it while the process runs.
//
// # What survives
//
// SQLite runs in WAL mode with synchronous=NORMAL: a killed process loses nothing that was acknowledged. A machine
// that loses power may lose the last moments, but never the consistency of the file. A data directory can be used with
// either driver of package store, one after the other.
//
// # Implementation notes
//
//   - There is one connection to SQLite. More connections halve the throughput.
//   - There is no gossip: the four services get each other's addresses. They communicate over TCP, on free ports on loopback.
//   - A start takes about 0.1 s. It took 0.4 s while the SDK read the whole binary for the build name; nameBuild sets it now.
//   - The server would end the process in several places (log.Fatal). Its logger ends the goroutine instead, and the
//     message becomes the error of Start.
//   - Its log is dropped while it stops: its services log each other's absence.
//   - The Web UI is assembled here from the ui-server's own parts, because its Server ends the process when it
//     cannot listen, cannot be given a listener, and never closes its connection to Temporal.
//   - The Web UI and its API have no login, so they refuse requests of other web pages, like the agent's own API: see
//     package mcpservers/hosting/guard.
package embedded
