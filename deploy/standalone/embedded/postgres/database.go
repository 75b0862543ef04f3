package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/iancoleman/strcase"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jmoiron/sqlx"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql/driver"
)

// database is one database of a PostgreSQL server.
type database struct {
	url  url.URL
	name string
}

// parse reads the URL of a database. Its errors contain no password.
func parse(address string) (database, error) {
	u, err := url.Parse(address)
	if err != nil {
		return database{}, errors.New("the URL of the database is not one: postgres://USER@HOST/NAME")
	}
	if u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return database{}, fmt.Errorf("the URL of the database begins with %q: postgres://USER@HOST/NAME", u.Scheme)
	}
	name := strings.TrimPrefix(u.Path, "/")
	if name == "" {
		return database{}, errors.New("the URL of the database names no database: postgres://USER@HOST/NAME")
	}
	if _, err := pgx.ParseConfig(address); err != nil { // the error masks the password
		return database{}, fmt.Errorf("read the URL of the database: %w", err)
	}
	return database{*u, name}, nil
}

// sibling is a database of the same server whose name has a suffix.
func (d database) sibling(suffix string) database { return d.named(d.name + suffix) }

func (d database) named(name string) database {
	d.name = name
	d.url.Path = "/" + name
	return d
}

func (d database) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, d.url.String())
	if err != nil {
		return nil, fmt.Errorf("connect to database %s: %w", d.name, err)
	}
	return conn, nil
}

// maintenance is a database that every PostgreSQL server has.
const maintenance = "postgres"

// SQLSTATE codes.
const (
	noSuchDatabase = "3D000"
	databaseExists = "42P04"
	uniqueViolated = "23505" // by another server that creates the same database
)

// create creates a database that is missing.
func (d database) create(ctx context.Context) error {
	conn, err := d.connect(ctx)
	if err == nil {
		return conn.Close(ctx)
	}
	if !hasCode(err, noSuchDatabase) {
		return err
	}
	conn, err = d.named(maintenance).connect(ctx)
	if err != nil {
		return fmt.Errorf("create database %s: %w", d.name, err)
	}
	_, err = conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{d.name}.Sanitize())
	if hasCode(err, databaseExists, uniqueViolated) {
		err = nil
	}
	if err := errors.Join(err, conn.Close(ctx)); err != nil {
		return fmt.Errorf("create database %s: create it, or give the user the right CREATEDB: %w", d.name, err)
	}
	return nil
}

func hasCode(err error, codes ...string) bool {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) {
		return false
	}
	for _, code := range codes {
		if answer.Code == code {
			return true
		}
	}
	return false
}

// serverConfig returns the configuration of the server for a database. The connections follow
// the URL, because the fields of the configuration cannot express all of it.
func (d database) serverConfig(connections int) *config.SQL {
	return &config.SQL{
		PluginName:   postgresql.PluginNamePGX,
		DatabaseName: d.name,
		Connect: func(*config.SQL) (*sqlx.DB, error) {
			db, err := (&driver.PGXDriver{}).CreateConnection(d.url.String())
			if err != nil {
				return nil, fmt.Errorf("connect to database %s: %w", d.name, err)
			}
			db.SetMaxOpenConns(connections)
			db.SetMaxIdleConns(connections)
			db.MapperFunc(strcase.ToSnake) // as the server's plugin does
			return db, nil
		},
	}
}
