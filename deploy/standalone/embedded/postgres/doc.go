// Package postgres keeps the data of a Temporal server in PostgreSQL.
//
//	store, err := postgres.Open(ctx, "postgres://temporal@db.example.com/temporal", log)
//	if err != nil { … }
//	defer store.Close()
//
// Open creates the databases that are missing, brings their schemas to the version of this program and waits until no
// other server uses them. The databases, their schemas and the tables with the versions are those of Temporal's own
// tools and images, so that a Temporal cluster can take over the databases.
//
// # Files
//
//	store.go   Open and Close; the configuration of the server
//	schema.go  databases and schemas: creation and migration
//	lease.go   one server at a time
//
// # The databases
//
// A server has two: the one that the URL names, and NAME_visibility for the lists. If they are missing, the user needs
// the right to create databases, and so for the extension btree_gin of the second one.
//
// # One server at a time
//
// The server believes that it is the only one. A lock in the first database (pg_advisory_lock) enforces that: a second
// server waits for it in Open, and continues when the first one has gone. The lock belongs to a connection, so the
// connection must not go through a pooler that shares connections between transactions.
package postgres
