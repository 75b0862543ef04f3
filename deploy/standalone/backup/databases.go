package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"agent-stop-and-go/deploy/standalone/embedded/store"
)

// database is one that is being copied.
type database struct {
	path string
	db   *sql.DB
	conn *sql.Conn
}

// copyDatabases copies databases as they are at one moment, and returns the moment. While it
// begins to read them, nobody can write to the first one. Their copies are below to.
func copyDatabases(ctx context.Context, dir string, names []string, to string) (files []File, at time.Time, err error) {
	var open []database
	defer func() {
		for _, d := range open {
			err = errors.Join(err, d.close())
		}
	}()
	for _, name := range names {
		d, err := openDatabase(ctx, filepath.Join(dir, name))
		if err != nil {
			return nil, at, err
		}
		open = append(open, d)
	}
	if at, err = begin(ctx, open); err != nil {
		return nil, at, err
	}
	for i, d := range open {
		f, err := d.copyTo(ctx, to, names[i])
		if err != nil {
			return nil, at, err
		}
		files = append(files, f)
	}
	return files, at, nil
}

func openDatabase(ctx context.Context, path string) (d database, err error) {
	d.path = path
	if d.db, err = store.OpenReading(path); err != nil {
		return d, fmt.Errorf("open the database %s: %w", path, err)
	}
	if d.conn, err = d.db.Conn(ctx); err != nil {
		return d, errors.Join(fmt.Errorf("open the database %s: %w", path, err), d.db.Close())
	}
	return d, nil
}

func (d database) close() error { return errors.Join(d.conn.Close(), d.db.Close()) }

// begin begins a transaction in every database at one moment.
func begin(ctx context.Context, open []database) (at time.Time, err error) {
	lock, err := openDatabase(ctx, open[0].path)
	if err != nil {
		return at, err
	}
	defer func() { err = errors.Join(err, lock.close()) }() // ends its transaction
	if _, err := lock.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return at, fmt.Errorf("lock the database %s: %w", lock.path, err)
	}
	at = time.Now()
	for _, d := range open {
		if err := d.begin(ctx); err != nil {
			return at, err
		}
	}
	return at, nil
}

// begin begins to read: the transaction sees the database as it is now.
func (d database) begin(ctx context.Context) error {
	_, err := d.conn.ExecContext(ctx, "BEGIN")
	if err == nil {
		var tables int
		err = d.conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&tables)
	}
	if err != nil {
		return fmt.Errorf("read the database %s: %w", d.path, err)
	}
	return nil
}

func (d database) copyTo(ctx context.Context, dir, name string) (f File, err error) {
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return f, err
	}
	if err := store.Copy(ctx, d.conn, path); err != nil {
		return f, err
	}
	if err := errors.Join(os.Chmod(path, 0o600), check(ctx, path), flush(path)); err != nil {
		return f, err
	}
	f, err = describe(path)
	f.Path = filepath.ToSlash(name)
	return f, err
}

// check fails if a copied database is damaged, which the original is then too.
func check(ctx context.Context, path string) (err error) {
	d, err := openDatabase(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	var result string
	if err := d.conn.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&result); err != nil {
		return err
	}
	if result != "ok" {
		return fmt.Errorf("the database that %s was copied from is damaged: %s", path, result)
	}
	return nil
}

// describe returns size and sum of a file.
func describe(path string) (f File, err error) {
	file, err := os.Open(path)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	digest := sha256.New()
	f.Size, err = io.Copy(digest, file)
	f.SHA256 = hex.EncodeToString(digest.Sum(nil))
	return f, err
}

// isDatabase reports whether a file is a SQLite database.
func isDatabase(path string) (bool, error) {
	const magic = "SQLite format 3\x00"
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	head := make([]byte, len(magic))
	n, err := io.ReadFull(file, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return bytes.Equal(head[:n], []byte(magic)), errors.Join(err, file.Close())
}
