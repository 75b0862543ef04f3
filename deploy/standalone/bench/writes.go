package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	_ "modernc.org/sqlite" // to read the database of another process
)

// writes are the amounts that SQLite has appended to the write-ahead log of a database.
type writes struct{ transactions, pages, bytes int64 }

// writesOf counts the writes to a database of another process while f runs. A reader prevents
// the log from being restarted meanwhile, so the log has all of them.
func writesOf(ctx context.Context, database string, f func() error) (w writes, err error) {
	db, err := sql.Open("sqlite", "file:"+database+"?mode=rw&_pragma=busy_timeout(10000)")
	if err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	reader, err := db.Conn(ctx)
	if err != nil {
		return w, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	if err := holdLog(ctx, reader); err != nil {
		return w, err
	}
	before, err := writesIn(database + "-wal")
	if err != nil {
		return w, err
	}
	if err := f(); err != nil {
		return w, err
	}
	after, err := writesIn(database + "-wal")
	return writes{after.transactions - before.transactions, after.pages - before.pages, after.bytes - before.bytes}, err
}

// holdLog empties the log and begins to read. The log is not restarted until the connection is
// closed.
func holdLog(ctx context.Context, reader *sql.Conn) error {
	var busy, pages, moved int
	if err := reader.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved); err != nil {
		return err
	}
	if busy != 0 {
		return errors.New("the log cannot be emptied: it is in use")
	}
	if _, err := reader.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	return reader.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&pages)
}

// The format of the log is that of https://sqlite.org/fileformat2.html#walformat.
const (
	logHeader   = 32
	frameHeader = 24
)

// writesIn counts the frames of a log.
func writesIn(file string) (w writes, err error) {
	log, err := os.Open(file)
	if err != nil {
		return w, err
	}
	defer log.Close()
	in := bufio.NewReaderSize(log, 1<<20)
	var header [logHeader]byte
	if _, err := io.ReadFull(in, header[:]); errors.Is(err, io.EOF) {
		return w, nil // nothing is written yet
	} else if err != nil {
		return w, fmt.Errorf("read %s: %w", file, err)
	}
	size := int64(binary.BigEndian.Uint32(header[8:]))
	for {
		var frame [frameHeader]byte
		if _, err := io.ReadFull(in, frame[:]); err != nil {
			return w, nil // the end
		}
		if [8]byte(frame[8:16]) != [8]byte(header[16:24]) {
			return w, nil // the rest belongs to an earlier log
		}
		w.pages++
		w.bytes += frameHeader + size
		if binary.BigEndian.Uint32(frame[4:]) != 0 { // a commit
			w.transactions++
		}
		if _, err := in.Discard(int(size)); err != nil {
			return w, nil
		}
	}
}
