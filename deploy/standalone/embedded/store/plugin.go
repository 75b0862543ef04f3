package store

import (
	stdsql "database/sql"
	"fmt"
	"reflect"
	"strconv"
	"sync"

	"github.com/jmoiron/sqlx"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/resolver"
)

// PluginName is the name of the plugin that uses connections of this package.
const PluginName = "sqlite-lent"

// loan is the configuration attribute that identifies the connection.
const loan = "loan"

func init() { sql.RegisterPlugin(PluginName, lent) }

var lent = &plugin{connections: map[string]*stdsql.DB{}}

// plugin is the server's own SQLite plugin with connections of this package.
type plugin struct {
	mu          sync.Mutex
	connections map[string]*stdsql.DB // by loan
}

// ServerConfig returns a configuration whose servers use db. The name is stored in the
// database, with the search attributes.
func ServerConfig(db *stdsql.DB, name string) *config.SQL {
	lent.mu.Lock()
	defer lent.mu.Unlock()
	id := strconv.Itoa(len(lent.connections))
	lent.connections[id] = db
	return &config.SQL{
		PluginName:        PluginName,
		DatabaseName:      name,
		MaxConns:          1,
		MaxIdleConns:      1,
		ConnectAttributes: map[string]string{loan: id},
	}
}

// GetVisibilityQueryConverter implements sqlplugin.Plugin.
func (*plugin) GetVisibilityQueryConverter() sqlplugin.VisibilityQueryConverter {
	converter, _ := sql.GetPluginVisibilityQueryConverter(sqlite.PluginName) // registered by its import
	return converter
}

// CreateDB implements sqlplugin.Plugin.
func (p *plugin) CreateDB(kind sqlplugin.DbKind, cfg *config.SQL, r resolver.ServiceResolver, l log.Logger, h metrics.Handler) (sqlplugin.GenericDB, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := cfg.ConnectAttributes[loan]
	empty := &config.SQL{
		PluginName: sqlite.PluginName, DatabaseName: ":memory:",
		ConnectAttributes: map[string]string{loan: id}, // not a pragma; it gives each loan its own connection
	}
	db, err := sql.NewSQLDB(kind, empty, r, l, h)
	if err != nil {
		return nil, err
	}
	if err := exchange(db, p.connections[id]); err != nil {
		return nil, err
	}
	return database{serverDB: db.(serverDB), name: cfg.DatabaseName}, nil
}

// exchange replaces the plugin's own connection, which all databases of a loan share, by ours.
func exchange(db sqlplugin.DB, ours *stdsql.DB) error {
	field := reflect.Indirect(reflect.ValueOf(db)).FieldByName("db")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*sqlx.DB]() {
		return fmt.Errorf("the SQLite plugin of this Temporal server, %T, keeps its connection elsewhere", db)
	}
	shared := (*sqlx.DB)(field.UnsafePointer())
	if shared.DB == ours {
		return nil
	}
	own := shared.DB
	shared.DB = ours
	return own.Close()
}

// serverDB is the type of the databases of the server's plugin.
type serverDB interface {
	sqlplugin.DB
	sqlplugin.AdminDB
}

// database replaces the name and the error check of a serverDB.
type database struct {
	serverDB
	name string
}

// DbName implements sqlplugin.GenericDB.
func (d database) DbName() string { return d.name }

// IsDupEntryError implements sqlplugin.DB.
func (d database) IsDupEntryError(err error) bool { return isDuplicate(err) }
