package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"go.temporal.io/server/common/config"

	"agent-stop-and-go/deploy/standalone/embedded/postgres"
	"agent-stop-and-go/deploy/standalone/embedded/store"
)

// storage is where a server keeps its data.
type storage struct {
	persistence config.Persistence
	main        *config.SQL // the part with the namespaces
}

func (s *Server) openStorage(ctx context.Context, o Options, logger serverLog) (storage, error) {
	if o.Database != "" {
		return s.openPostgres(ctx, o, logger)
	}
	return s.openSQLite(ctx, o)
}

func (s *Server) openSQLite(ctx context.Context, o Options) (storage, error) {
	path, err := openStore(o.DataDir, o.Logger)
	if err != nil {
		return storage{}, err
	}
	db, err := store.OpenServing(path)
	if err != nil {
		return storage{}, fmt.Errorf("open database %s: %w", path, err)
	}
	s.undo = append(s.undo, func() error { return closeStore(db) })
	dropIndexes(ctx, db, o.Logger)
	main := store.ServerConfig(db, store.Escape(path))
	return storage{main: main, persistence: config.Persistence{
		DefaultStore:     store.PluginName,
		VisibilityStore:  store.PluginName,
		NumHistoryShards: 1, // cannot change in an existing database; more had no effect
		DataStores:       map[string]config.DataStore{store.PluginName: {SQL: main}},
	}}, nil
}

// closeStore moves the write-ahead log into the database file, so that a stopped server leaves
// a single file to copy.
func closeStore(db *sql.DB) error {
	_, err := db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	if err := errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("close database: %w", err)
	}
	return nil
}

func (s *Server) openPostgres(ctx context.Context, o Options, logger serverLog) (data storage, err error) {
	err = runApart(logger, func() error {
		db, err := postgres.Open(ctx, o.Database, postgres.Log{Own: o.Logger, Server: logger})
		if err != nil {
			return err
		}
		s.undo, s.lost = append(s.undo, db.Close), db.Lost()
		data = storage{main: db.Main(), persistence: db.Persistence(o.Shards)}
		return nil
	})
	if err != nil {
		return storage{}, fmt.Errorf("open the database: %w", err)
	}
	return data, nil
}
