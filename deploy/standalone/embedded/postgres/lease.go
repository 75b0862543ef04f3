package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
)

// leaseKey identifies the lock among the advisory locks of the database.
const leaseKey = 0x74656d706f72616c // "temporal" in ASCII

const (
	// leasePause is the time between two attempts to get the lease, and between two looks
	// whether it is still there.
	leasePause = time.Second
	// leaseCall bounds a statement, so that a dead connection is noticed.
	leaseCall = 5 * time.Second
)

// lease is the right of a server to use the databases. It ends with its connection, so nobody
// has to clean up after a killed process.
type lease struct {
	db     database
	log    *slog.Logger
	lost   chan error
	cancel context.CancelFunc
	done   chan struct{}
}

var errTaken = errors.New("another server uses the database")

// takeLease waits until no other server has the lease, or until ctx ends.
func takeLease(ctx context.Context, db database, log *slog.Logger) (*lease, error) {
	conn, err := tryLease(ctx, db)
	for said := false; errors.Is(err, errTaken); said = true {
		if !said {
			log.Warn("waiting until no other server uses the database", "database", db.name)
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		case <-time.After(leasePause):
			conn, err = tryLease(ctx, db)
		}
	}
	if err != nil {
		return nil, err
	}
	keeping, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l := &lease{db: db, log: log, lost: make(chan error, 1), cancel: cancel, done: make(chan struct{})}
	go l.keep(keeping, conn)
	return l, nil
}

// release ends the lease.
func (l *lease) release() error {
	l.cancel()
	<-l.done
	return nil
}

// tryLease returns a connection with the lease, or errTaken.
func tryLease(ctx context.Context, db database) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, leaseCall)
	defer cancel()
	conn, err := db.connect(ctx)
	if err != nil {
		return nil, err
	}
	var ours bool
	err = conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", int64(leaseKey)).Scan(&ours)
	if err == nil && !ours {
		err = fmt.Errorf("%w %s", errTaken, db.name)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return conn, nil
}

// keep looks whether the lease is still there, and gets it again after a restart of PostgreSQL.
// The server meanwhile retries by itself.
func (l *lease) keep(ctx context.Context, conn *pgx.Conn) {
	defer close(l.done)
	tick := time.NewTicker(leasePause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			closeQuietly(conn)
			return
		case <-tick.C:
		}
		if conn != nil && alive(ctx, conn) {
			continue
		}
		if conn != nil {
			l.log.Warn("the connection that keeps other servers out is lost; trying to get it again", "database", l.db.name)
		}
		closeQuietly(conn)
		var err error
		if conn, err = tryLease(ctx, l.db); errors.Is(err, errTaken) {
			l.lost <- fmt.Errorf("the connection was lost, and now %w", err)
			return
		}
	}
}

func alive(ctx context.Context, conn *pgx.Conn) bool {
	ctx, cancel := context.WithTimeout(ctx, leaseCall)
	defer cancel()
	return conn.Ping(ctx) == nil
}

// closeQuietly closes a connection that may be broken, or nil.
func closeQuietly(conn *pgx.Conn) {
	if conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaseCall)
	defer cancel()
	_ = conn.Close(ctx)
}
