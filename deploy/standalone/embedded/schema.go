package embedded

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.temporal.io/server/common/headers"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/schema/sqlite"

	"agent-stop-and-go/deploy/standalone/embedded/store"
)

const (
	dbFile     = "temporal.db"
	schemaFile = dbFile + ".schema"
)

// openStore returns the path of the database. It creates a missing database and migrates one
// with an older schema to the schema of this program.
//
// A new database is created under a temporary name, and renamed after its version has been
// written. A crash at any moment leaves either no database or a complete one with its version.
func openStore(dir string, log *slog.Logger) (path string, err error) {
	schema, err := currentSchema()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(dir, RestoreFile)); err == nil {
		return "", fmt.Errorf("a restore to data directory %s was interrupted: run agent restore again", dir)
	}
	path = filepath.Join(dir, dbFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return path, createStore(dir, schema)
	} else if err != nil {
		return "", fmt.Errorf("open database: %w", err)
	}
	return path, checkSchema(dir, schema, log)
}

// checkSchema compares the schema of a database with that of this program, and migrates the
// database if the server's own files lead from one to the other.
func checkSchema(dir string, schema *schema, log *slog.Logger) error {
	const remedy = "move the directory away to start over, or run the version of agent that made it"
	b, err := os.ReadFile(filepath.Join(dir, schemaFile))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("data directory %s has a %s without %s, so its schema is unknown: %s", dir, dbFile, schemaFile, remedy)
	}
	if err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	text, want := strings.TrimSpace(string(b)), schema.version()
	if text == want.String() {
		return nil
	}
	if text == "" {
		return nameSchema(dir, schema, remedy)
	}
	has := fmt.Sprintf("data directory %s has database schema %q%s, this version needs %q", dir, text, madeBy(dir), want)
	got, ok := parseVersion(text)
	switch {
	case !ok:
		return fmt.Errorf("%s: %s", has, remedy)
	case got.compare(want) > 0:
		return fmt.Errorf("%s: a newer agent has made or migrated it, and only one with that schema or a newer one can read it. Run that, move "+
			"the directory away to start over, or go back to the copy from before a migration, if there is a %s.before-* (OPERATIONS.md)", has, dbFile)
	case got.visibility != want.visibility:
		return fmt.Errorf("%s: the lists' schema cannot be migrated; run the version of agent that made it, or move the directory away to start over", has)
	}
	m := migration{dir: dir, from: got, to: want, schema: schema, log: log}
	migrated, err := m.run()
	switch {
	case err == nil:
		return nil
	case migrated:
		return fmt.Errorf("%s: its database is migrated, but that could not be noted: start this version again when the cause is gone: %w", has, err)
	default:
		return fmt.Errorf("%s: it was not migrated, and is as it was: run the version of agent that made it: %w", has, err)
	}
}

// nameSchema writes the version of a database whose version file is empty, which a power cut
// during a write by an older agent may cause. It does so only if the schema is that of this
// program.
func nameSchema(dir string, schema *schema, remedy string) error {
	same, err := schema.is(filepath.Join(dir, dbFile))
	if err != nil {
		return err
	}
	if !same {
		return fmt.Errorf("data directory %s has a %s that is empty, and a database that is not of this version: %s", dir, schemaFile, remedy)
	}
	return writeVersion(dir, schema)
}

// serverFile has the version of the Temporal server that created or last migrated the database.
// Other versions with the same schema may have written to the database since.
const serverFile = dbFile + ".server"

// madeBy describes which server created or migrated the database, if serverFile has it.
func madeBy(dir string) string {
	b, err := os.ReadFile(filepath.Join(dir, serverFile))
	if err != nil { // older agents did not write it
		return ""
	}
	return fmt.Sprintf(" of Temporal server %s", strings.TrimSpace(string(b)))
}

// writeVersion writes the schema version of the database.
func writeVersion(dir string, schema *schema) error {
	err := replace(filepath.Join(dir, serverFile), headers.ServerVersion+"\n")
	if err == nil {
		err = replace(filepath.Join(dir, schemaFile), schema.version().String()+"\n")
	}
	if err != nil {
		return fmt.Errorf("write schema version: %w", err)
	}
	return nil
}

func createStore(dir string, schema *schema) error {
	path, draft := filepath.Join(dir, dbFile), filepath.Join(dir, dbFile+".new")
	// Leftovers of a crash, and the log of a removed database, which SQLite would apply to the
	// new one.
	for _, name := range []string{draft, draft + "-journal", path + "-wal", path + "-shm", path + "-journal"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("create database: %w", err)
		}
	}
	if err := schema.apply(draft); err != nil {
		return fmt.Errorf("create database %s: %w", path, err)
	}
	if err := writeVersion(dir, schema); err != nil {
		return err
	}
	if err := publish(draft, path); err != nil {
		return fmt.Errorf("create database: %w", err)
	}
	return nil
}

// schema collects the statements that create a database. It implements the interface of a
// database to receive them.
type schema struct {
	sqlplugin.AdminDB
	statements []string
}

func currentSchema() (*schema, error) {
	s := &schema{}
	if err := sqlite.SetupSchemaOnDB(s); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	return s, nil
}

// Exec implements sqlplugin.AdminDB.
func (s *schema) Exec(stmt string, _ ...any) error {
	s.statements = append(s.statements, stmt)
	return nil
}

// version returns the version of the schema. It includes a digest, because the server has
// changed its schema without changing its version numbers.
func (s *schema) version() schemaVersion {
	sum := sha256.Sum256([]byte(strings.Join(s.statements, ";\n")))
	return schemaVersion{sqlite.Version, sqlite.VisibilityVersion, hex.EncodeToString(sum[:6])}
}

// apply creates a database.
func (s *schema) apply(path string) (err error) {
	db, err := store.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := s.applyTo(db); err != nil {
		return err
	}
	return os.Chmod(path, 0o600)
}

func (s *schema) applyTo(db *sql.DB) error {
	_, err := db.Exec("BEGIN;" + strings.Join(s.statements, ";\n") + ";COMMIT")
	return err
}

// is reports whether a database has this schema.
func (s *schema) is(path string) (same bool, err error) {
	db, err := store.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	have, err := shapeOf(db)
	if err != nil {
		return false, err
	}
	want, err := s.shape()
	return slices.Equal(have, want), err
}

// shape returns the shape of a new database.
func (s *schema) shape() (shape []string, err error) {
	db, err := store.Open(":memory:")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := s.applyTo(db); err != nil {
		return nil, err
	}
	return shapeOf(db)
}
