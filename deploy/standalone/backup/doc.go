// Package backup copies the data of an agent, also while it runs, and puts a copy back.
//
// # The folder of the copies
//
//	backup.lock                    locked while a copy is made or removed
//	files/ab/cdef…                 the content of files by its SHA-256, shared by all copies
//	2026-11-23T22-31-05.000Z/          one copy, named by its moment
//	    manifest.json              a Manifest: what the copy consists of
//	    temporal.db, …             the databases
//	2026-11-23T22-41-05.000Z.unfinished/   a copy that was interrupted; the next one removes it
//
// # One moment
//
// All databases are copied as they are at one moment. Make takes the write lock of the Temporal
// server's database, begins to read every database, and gives the lock back: the server waits for
// some milliseconds. A tool may have run without the server knowing yet, as in a process that is
// killed at that moment, and is treated like that: the outcome of the call is unknown, and a
// person is asked.
//
// Files are copied after the databases. Values of the blob store are written before a history
// refers to them, and the collector leaves new ones alone for a day, so none is missing. Claims of
// calls that ran after the moment are in the copy: these calls are not repeated, their outcome is
// unknown.
//
// # What is not copied
//
// The keys that seal callers' tokens, sign the audit log and countersign those of others (credential.key,
// audit.key, witness.key), so that whoever gets the copy gets no token and cannot write another log, and a
// restored witness does not sign what it has refused before; the tasks that the process is working on, which wait for their timeouts after a restore;
// logs of databases, locks, drafts and the copies from before migrations.
package backup
