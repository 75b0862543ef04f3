package postgres

import (
	"database/sql"
	"errors"
	"fmt"

	"go.temporal.io/server/common/config"
	pgschema "go.temporal.io/server/schema/postgresql/v12"
	"go.temporal.io/server/tools/common/schema"
	sqltool "go.temporal.io/server/tools/sql"
	"golang.org/x/mod/semver"
)

// schemaOf is a schema of the server.
type schemaOf struct {
	folder  string // in the server's embedded files
	version string // that this server needs
}

var (
	mainSchema       = schemaOf{"postgresql/v12/temporal", pgschema.Version}
	visibilitySchema = schemaOf{"postgresql/v12/visibility", pgschema.VisibilityVersion}
)

// nothing is the version of a database without tables.
const nothing = "0.0"

// migrate brings a database to the version of the schema that this server needs. It applies the
// server's own files, one version after the other, as Temporal's temporal-sql-tool does, and
// after a failure continues with the version that failed. A database of a newer server is left
// as it is: the server itself refuses one that it cannot read.
func migrate(cfg *config.SQL, want schemaOf, l Log) (err error) {
	conn, err := sqltool.NewConnection(cfg, l.Server)
	if err != nil {
		return err
	}
	defer conn.Close()
	has, err := versionOf(conn)
	if err != nil {
		return fmt.Errorf("read the schema version of database %s: %w", cfg.DatabaseName, err)
	}
	switch {
	case semver.Compare("v"+has, "v"+want.version) >= 0:
		return nil
	case has != nothing:
		l.Own.Warn("migrating a database to the schema of this version", "database", cfg.DatabaseName, "from", has, "to", want.version)
	}
	update := &schema.UpdateConfig{DBName: cfg.DatabaseName, SchemaName: want.folder, TargetVersion: want.version}
	if err := schema.NewUpdateSchemaTask(conn, update, l.Server).Run(); err != nil {
		return fmt.Errorf("bring database %s from schema %s to %s: %w", cfg.DatabaseName, has, want.version, err)
	}
	return nil
}

// versionOf returns the version of a database, whose tables for versions it creates.
func versionOf(conn *sqltool.Connection) (string, error) {
	if err := conn.CreateSchemaVersionTables(); err != nil {
		return "", err
	}
	has, err := conn.ReadSchemaVersion()
	if errors.Is(err, sql.ErrNoRows) {
		return nothing, conn.UpdateSchemaVersion(nothing, nothing)
	}
	return has, err
}
