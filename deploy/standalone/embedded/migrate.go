package embedded

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	serverschema "go.temporal.io/server/schema"

	"agent-stop-and-go/deploy/standalone/embedded/store"
)

// steps has the changes of the server's schema: a folder of SQL files for each version.
const steps = "sqlite/v3/temporal/versioned"

// migration changes a database of an older schema to the schema of this program.
type migration struct {
	dir      string
	from, to schemaVersion
	schema   *schema
	log      *slog.Logger
}

// run copies the database, migrates it in one transaction and compares the result with a new
// database. On a failure the database is unchanged, unless only writing its version has failed.
//
// A crash before the version is written leaves a database that already has the new schema; then
// run only writes the version.
func (m migration) run() (migrated bool, err error) {
	db, err := store.Open(filepath.Join(m.dir, dbFile))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	want, err := m.schema.shape()
	if err != nil {
		return false, err
	}
	have, err := shapeOf(db)
	if err != nil {
		return false, err
	}
	if !slices.Equal(have, want) {
		if err := m.backUp(db); err != nil {
			return false, err
		}
		if err := m.change(db, want); err != nil {
			return false, err
		}
	}
	return true, writeVersion(m.dir, m.schema)
}

// backUp copies the database. An existing copy is kept: it has the same version, and no
// migration has changed the database since.
func (m migration) backUp(db *sql.DB) error {
	copied := filepath.Join(m.dir, dbFile+".before-"+m.to.temporal)
	draft := copied + ".new"
	if err := os.Remove(draft); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("back up the database: %w", err)
	}
	if _, err := db.Exec("VACUUM INTO ?", draft); err != nil {
		return errors.Join(fmt.Errorf("back up the database to %s: %w", copied, err), os.Remove(draft))
	}
	version := filepath.Join(m.dir, schemaFile)
	if err := errors.Join(os.Chmod(draft, 0o600), publish(draft, copied), // VACUUM does not sync its file
		replace(version+".before-"+m.to.temporal, m.from.String()+"\n")); err != nil {
		return fmt.Errorf("back up the database: %w", err)
	}
	m.log.Warn("migrating the database to the schema of this version", "from", m.from.temporal, "to", m.to.temporal, "backup", copied)
	return nil
}

func (m migration) change(db *sql.DB, want []string) error {
	versions, err := stepsBetween(m.from.temporal, m.to.temporal)
	if err != nil {
		return err
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	for _, version := range versions {
		if err := apply(tx, version); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	have, err := shapeOf(tx)
	if err == nil && !slices.Equal(have, want) {
		err = fmt.Errorf("the changes from schema %s to %s do not lead to a database as this version makes it (%s)", m.from.temporal, m.to.temporal, difference(have, want))
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// stepsBetween lists the versions after `after` up to and including `to`, oldest first.
func stepsBetween(after, to string) ([]string, error) {
	entries, err := fs.ReadDir(serverschema.Assets(), steps)
	if err != nil {
		return nil, fmt.Errorf("read the changes of the schema: %w", err)
	}
	var versions []string
	for _, e := range entries {
		if v := e.Name(); semver.Compare(v, "v"+after) > 0 && semver.Compare(v, "v"+to) <= 0 {
			versions = append(versions, v)
		}
	}
	semver.Sort(versions)
	return versions, nil
}

func apply(tx *sql.Tx, version string) error {
	files, err := fs.Glob(serverschema.Assets(), path.Join(steps, version, "*.sql"))
	if err != nil {
		return fmt.Errorf("read the changes of schema %s: %w", version, err)
	}
	for _, file := range files {
		text, err := fs.ReadFile(serverschema.Assets(), file)
		if err != nil {
			return fmt.Errorf("read the changes of schema %s: %w", version, err)
		}
		if _, err := tx.Exec(string(text)); err != nil {
			return fmt.Errorf("change the schema to %s: %w", version, err)
		}
	}
	return nil
}

// difference lists the entries that only one of the shapes has.
func difference(have, want []string) string {
	var out []string
	for _, line := range have {
		if !slices.Contains(want, line) {
			out = append(out, "has "+line)
		}
	}
	for _, line := range want {
		if !slices.Contains(have, line) {
			out = append(out, "lacks "+line)
		}
	}
	return strings.Join(out, "; ")
}

// shapeOf lists tables, columns and indexes, sorted, because a column that was added later is
// at the end of its table. It omits NOT NULL: the server's changes add nullable columns where a
// new database has NOT NULL ones. It omits the indexes of the visibility table too, because
// only used ones are kept.
func shapeOf(db interface {
	Query(query string, args ...any) (*sql.Rows, error)
}) (shape []string, err error) {
	rows, err := db.Query(`SELECT m.type || ' ' || m.name || ' ' || coalesce(c.name, '') || ' ' || coalesce(upper(c.type), '') || ' ' ||
			coalesce(c.pk, '') || ' ' || coalesce(i.name, '')
		FROM sqlite_master m
			LEFT JOIN pragma_table_info(CASE m.type WHEN 'table' THEN m.name END) c
			LEFT JOIN pragma_index_info(CASE m.type WHEN 'index' THEN m.name END) i
		WHERE m.name NOT LIKE 'sqlite_stat%' AND NOT (m.type = 'index' AND m.tbl_name = 'executions_visibility')
		ORDER BY 1`)
	if err != nil {
		return nil, fmt.Errorf("read the schema of the database: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return nil, err
		}
		shape = append(shape, line)
	}
	return shape, rows.Err()
}

// schemaVersion is the content of the version file.
type schemaVersion struct{ temporal, visibility, digest string }

var versionPattern = regexp.MustCompile(`^temporal (\d+(?:\.\d+)*), visibility (\d+(?:\.\d+)*), ([0-9a-f]+)$`)

func parseVersion(text string) (v schemaVersion, ok bool) {
	m := versionPattern.FindStringSubmatch(text)
	if m == nil {
		return v, false
	}
	return schemaVersion{m[1], m[2], m[3]}, true
}

// compare compares both schemas: a database is as new as the newer of them.
func (v schemaVersion) compare(other schemaVersion) int {
	temporal := semver.Compare("v"+v.temporal, "v"+other.temporal)
	visibility := semver.Compare("v"+v.visibility, "v"+other.visibility)
	return cmp.Or(max(temporal, visibility, 0), min(temporal, visibility))
}

func (v schemaVersion) String() string {
	return strings.Join([]string{"temporal " + v.temporal, "visibility " + v.visibility, v.digest}, ", ")
}
