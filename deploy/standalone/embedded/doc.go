// Package embedded runs a Temporal server on SQLite, and its Web UI, inside this process.
//
//	srv, err := embedded.Start(ctx, embedded.Options{DataDir: "./data", Port: 7233, UIPort: 8233})
//	if err != nil { … }
//	defer srv.Stop()
//	c, err := client.Dial(client.Options{HostPort: srv.Address()})
//
// When Start returns, the server answers, the namespace exists with the wanted retention and the search
// attributes can be used. Stop drains it: first the Web UI, then the server, then the lock.
//
// # What is where
//
//	server.go     Start and Stop, in the order things depend on each other
//	options.go    Options and their defaults
//	temporal.go   the server: one process, four services, nothing but loopback
//	settings.go   the dynamic configuration, one reason per line
//	schema.go     the database file and the version of its schema
//	migrate.go    from an older schema to this one
//	indexes.go    those of the lists that nobody searches by
//	store/        the connection to the file, and the driver
//	lock.go       one process per data directory
//	replace.go    files that a crash leaves whole
//	ports.go      free and taken ports
//	room.go       whether the disk is full
//	namespace.go  namespace, retention and search attributes, ensured at every boot
//	started.go    the tasks that workers had, or had waiting for them alone, when the server died
//	ui.go         the Web UI
//	log.go        the server's log, from warnings up, in ours
//
// # The data directory
//
//	temporal.db         everything Temporal knows (and its -wal and -shm)
//	temporal.db.schema  the version of its schema. An older one is migrated by the server's own files, after a copy of the
//	                    database; another one is refused, never guessed at
//	temporal.db.server  the Temporal server that made or migrated it, for people
//	temporal.db.before-VERSION, temporal.db.schema.before-VERSION
//	                    the database from before a migration to VERSION; may be deleted
//	temporal.db.room    there for a moment, to find out whether the disk is full
//	agent.lock          held while a process uses the directory; names that process
//
// To start over, stop the process and move the directory away. To back it up, stop the process and copy it, or use
// `sqlite3 temporal.db ".backup copy.db"` while it runs and copy temporal.db.schema too.
//
// # What survives
//
// SQLite runs in WAL mode with synchronous=NORMAL: a killed process loses nothing that was acknowledged. A machine
// that loses power may lose the last moments, but never the consistency of the file. A data directory can be used with
// either driver of package store, one after the other.
//
// # Things that are not obvious
//
//   - One connection to SQLite. More of them halve the throughput.
//   - No gossip: the four services are told each other's addresses. They talk by TCP, on ports picked free on loopback.
//   - A start takes about 0.1 s. It took 0.4 s while the SDK read the whole binary to name the build; nameBuild does that now.
//   - The server would end the process in several places (log.Fatal). Its logger ends the goroutine instead, and the
//     message becomes the error of Start.
//   - What it logs while it stops is dropped: its services complain of each other's absence.
//   - The Web UI is assembled here from the ui-server's own parts, because its Server ends the process when it
//     cannot listen, cannot be given a listener, and never closes its connection to Temporal.
//   - The Web UI and its API have no login, so they refuse what other web pages ask, like the agent's own API does: see
//     package mcpservers/hosting/guard.
package embedded
