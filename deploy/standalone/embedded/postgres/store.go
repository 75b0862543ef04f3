package postgres

import (
	"context"
	"errors"
	"log/slog"

	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
)

// Connections at most, of each of the four services. All of them together stay below the 100
// that PostgreSQL admits by default.
const (
	mainConnections       = 16
	visibilityConnections = 4
)

const visibilitySuffix = "_visibility"

// Store is a pair of databases that this process alone uses.
type Store struct {
	main, visibility *config.SQL
	lease            *lease
}

// Log are the loggers of a store: of this package, and of the server's tools.
type Log struct {
	Own    *slog.Logger
	Server log.Logger
}

// Open opens the databases of a URL as libpq has it: postgres://USER@HOST/NAME?PARAMETERS. What
// the URL leaves out comes from the variables of libpq, such as PGPASSWORD and PGPASSFILE.
// Open waits while another server uses the databases, until ctx ends.
func Open(ctx context.Context, address string, l Log) (*Store, error) {
	main, err := parse(address)
	if err != nil {
		return nil, err
	}
	visibility := main.sibling(visibilitySuffix)
	for _, db := range []database{main, visibility} {
		if err := db.create(ctx); err != nil {
			return nil, err
		}
	}
	held, err := takeLease(ctx, main, l.Own)
	if err != nil {
		return nil, err
	}
	s := &Store{main: main.serverConfig(mainConnections), visibility: visibility.serverConfig(visibilityConnections), lease: held}
	if err := migrate(s.main, mainSchema, l); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := migrate(s.visibility, visibilitySchema, l); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Main is the configuration of the database with workflows, queues and namespaces.
func (s *Store) Main() *config.SQL { return s.main }

// Persistence is the configuration of a server that uses the databases. The number of shards
// counts only for new databases.
func (s *Store) Persistence(shards int32) config.Persistence {
	return config.Persistence{
		DefaultStore:     "main",
		VisibilityStore:  "visibility",
		NumHistoryShards: shards,
		DataStores:       map[string]config.DataStore{"main": {SQL: s.main}, "visibility": {SQL: s.visibility}},
	}
}

// Lost delivers an error when another server has taken the databases over.
func (s *Store) Lost() <-chan error { return s.lease.lost }

// Close admits another server. The own one must have stopped.
func (s *Store) Close() error { return s.lease.release() }
