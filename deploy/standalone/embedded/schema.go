package embedded

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/schema/sqlite"
)

const (
	dbFile     = "temporal.db"
	schemaFile = dbFile + ".schema"
)

// openStore returns the path of the database, which exists and has the schema this program was built for.
//
// A new database is made under another name and its version is written before it gets its own, so that a crash at any
// moment leaves either no database or a whole one with its version.
func openStore(dir string) (path string, err error) {
	schema, err := currentSchema()
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, dbFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return path, createStore(dir, schema)
	} else if err != nil {
		return "", fmt.Errorf("open database: %w", err)
	}
	return path, checkSchema(dir, schema.version())
}

func checkSchema(dir, want string) error {
	const remedy = "move the directory away to start over, or run the version of agent that made it"
	b, err := os.ReadFile(filepath.Join(dir, schemaFile))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("data directory %s has a %s without %s, so its schema is unknown: %s", dir, dbFile, schemaFile, remedy)
	}
	if err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	if got := strings.TrimSpace(string(b)); got != want {
		return fmt.Errorf("data directory %s has database schema %q, this version needs %q: %s", dir, got, want, remedy)
	}
	return nil
}

func createStore(dir string, schema *schema) error {
	path, draft := filepath.Join(dir, dbFile), filepath.Join(dir, dbFile+".new")
	// Leftovers of a crash, and the log of a database somebody removed: SQLite would apply it to the new one.
	for _, name := range []string{draft, draft + "-journal", path + "-wal", path + "-shm", path + "-journal"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("create database: %w", err)
		}
	}
	if err := schema.apply(draft); err != nil {
		return fmt.Errorf("create database %s: %w", path, err)
	}
	if err := os.WriteFile(filepath.Join(dir, schemaFile), []byte(schema.version()+"\n"), 0o600); err != nil {
		return fmt.Errorf("write schema version: %w", err)
	}
	if err := os.Rename(draft, path); err != nil {
		return fmt.Errorf("create database: %w", err)
	}
	return nil
}

// schema is the statements that make a database. It poses as a database to get hold of them.
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

// version names the schema. The server's own numbers have been left alone through changes, hence the digest.
func (s *schema) version() string {
	sum := sha256.Sum256([]byte(strings.Join(s.statements, ";\n")))
	return fmt.Sprintf("temporal %s, visibility %s, %s", sqlite.Version, sqlite.VisibilityVersion, hex.EncodeToString(sum[:6]))
}

// apply makes a database. The connection is our own because the server's SQLite plugin never closes one.
func (s *schema) apply(path string) (err error) {
	db, err := sql.Open("sqlite", "file:"+escape(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.Exec("BEGIN;" + strings.Join(s.statements, ";\n") + ";COMMIT"); err != nil {
		return err
	}
	return os.Chmod(path, 0o600)
}

// escape keeps a path whole inside the URI that SQLite is given.
func escape(path string) string {
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
}
