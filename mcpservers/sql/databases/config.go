package databases

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/sql/statement"
)

// Engines, as written in files.
const (
	EngineSQLite   = "sqlite"
	EnginePostgres = "postgres"
	EngineMySQL    = "mysql" // also MariaDB
)

// Config has the address of the server, its databases and the limits of one call.
type Config struct {
	hosting.Settings `yaml:",inline"` // host, port, transport, …

	// MaxRows and MaxBytes bound a result. MaxBytes is about the size in JSON.
	MaxRows  int `yaml:"max_rows"`
	MaxBytes int `yaml:"max_bytes"`
	// MaxStatement bounds the text of a statement, in bytes.
	MaxStatement int `yaml:"max_statement"`
	// Timeout bounds a statement, with its wait for locks. An agent waits 30s for a call.
	Timeout hosting.Span `yaml:"timeout"`
	// Connections bounds the connections to each database, for each role.
	Connections int `yaml:"connections"`

	Databases []DatabaseConfig `yaml:"databases"`
}

// DatabaseConfig is one database.
type DatabaseConfig struct {
	Name   string `yaml:"name"`
	Engine string `yaml:"engine"`
	// Path is the file of SQLite, and Write permits to change it. Create makes a file that is
	// missing.
	Path   string `yaml:"path"`
	Write  bool   `yaml:"write"`
	Create bool   `yaml:"create"`
	// ReadEnv and WriteEnv name environment variables with the connection strings of the roles
	// that read and write. Without WriteEnv nothing can be changed.
	ReadEnv  string `yaml:"read_env"`
	WriteEnv string `yaml:"write_env"`
	// Execute are the classes that execute runs; empty for all but session.
	Execute []statement.Class `yaml:"execute"`
	// Functions are known to change nothing, besides those of the engine.
	Functions []string `yaml:"functions"`
	// Keys stores idempotency keys in the database; true if not set.
	Keys *bool `yaml:"keys"`
	// DryRun permits changes that are rolled back.
	DryRun bool `yaml:"dry_run"`
}

func (d DatabaseConfig) storesKeys() bool { return d.Keys == nil || *d.Keys }

// writable reports whether anything can be changed.
func (d DatabaseConfig) writable() bool { return d.Write || d.WriteEnv != "" }

// executes returns the classes that execute runs.
func (d DatabaseConfig) executes() []statement.Class {
	if len(d.Execute) > 0 {
		return d.Execute
	}
	return []statement.Class{statement.Write, statement.Schema, statement.Unsafe, statement.Unknown}
}

// DefaultConfig returns settings for a server on loopback. It has no databases, which a server
// needs.
func DefaultConfig() Config {
	return Config{
		Settings: hosting.DefaultSettings(8092),
		MaxRows:  200, MaxBytes: 256 << 10, MaxStatement: 64 << 10, Timeout: hosting.Span(15 * time.Second), Connections: 4,
	}
}

// Bind adds the flags of the server. --sqlite adds a database of its own.
func (c *Config) Bind(set *flag.FlagSet) {
	c.Settings.Bind(set)
	set.Func("sqlite", "", func(path string) error {
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		c.Databases = append(c.Databases, DatabaseConfig{Name: name, Engine: EngineSQLite, Path: path, Write: true, Create: true})
		return nil
	})
}

// LoadConfig reads a YAML file over the defaults. One error reports all mistakes of the file.
// Relative paths are relative to the working directory.
func LoadConfig(path string) (Config, error) { return hosting.LoadYAML(path, DefaultConfig(), keys) }

// keys are the allowed keys, by the Go type in errors of yaml.
var keys = map[string]string{
	"databases.Config":         strings.Join(append(hosting.Keys(), "max_rows", "max_bytes", "max_statement", "timeout", "connections", "databases"), ", "),
	"databases.DatabaseConfig": "name, engine, path, write, create, read_env, write_env, execute, functions, keys, dry_run",
}

// ErrNoDatabases is returned by Validate for a configuration without databases.
var ErrNoDatabases = errors.New("no databases: list them in the file of --config, or name a file with --sqlite (see --help)")

var (
	validName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	envName   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// Validate reports every invalid value.
func (c Config) Validate() error {
	errs := []error{c.Settings.Validate()}
	for _, limit := range []struct {
		name               string
		value, least, most int
	}{
		{"max_rows", c.MaxRows, 1, 100_000}, {"max_bytes", c.MaxBytes, 1 << 10, 16 << 20},
		{"max_statement", c.MaxStatement, 1, 1 << 20}, {"connections", c.Connections, 1, 100},
	} {
		if limit.value < limit.least || limit.value > limit.most {
			errs = append(errs, fmt.Errorf("%s %d is out of range: %d to %d", limit.name, limit.value, limit.least, limit.most))
		}
	}
	if t := time.Duration(c.Timeout); t < 100*time.Millisecond || t > 10*time.Minute {
		errs = append(errs, fmt.Errorf("timeout %s is out of range: 100ms to 10m", t))
	}
	if len(c.Databases) == 0 {
		errs = append(errs, ErrNoDatabases)
	}
	names := map[string]bool{}
	for i, d := range c.Databases {
		if names[d.Name] {
			errs = append(errs, fmt.Errorf("databases[%d]: the name %q is used twice", i, d.Name))
		}
		names[d.Name] = true
		for _, err := range d.problems() {
			errs = append(errs, fmt.Errorf("databases[%d]: %w", i, err))
		}
	}
	return errors.Join(errs...)
}

func (d DatabaseConfig) problems() (errs []error) {
	problem := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	problem(!validName.MatchString(d.Name), "name %q is not allowed: letters, digits, _ and -, at most 64", d.Name)
	switch d.Engine {
	case EngineSQLite:
		problem(d.Path == "", "path is missing: the file of the database")
		problem(d.Create && !d.Write, "create needs write: an empty file is of no use for reading")
		problem(d.ReadEnv != "" || d.WriteEnv != "", "read_env and write_env are for servers; a file has path and write")
		problem(len(d.Functions) > 0, "functions is for servers; those of SQLite are all known")
	case EnginePostgres, EngineMySQL:
		problem(d.Path != "" || d.Write || d.Create, "path, write and create are for sqlite; a server has read_env and write_env")
		problem(!envName.MatchString(d.ReadEnv), "read_env %q is not the name of an environment variable, which has the connection string", d.ReadEnv)
		problem(d.WriteEnv != "" && !envName.MatchString(d.WriteEnv), "write_env %q is not the name of an environment variable", d.WriteEnv)
	default:
		problem(true, "engine %q is unknown: use sqlite, postgres or mysql (also for MariaDB)", d.Engine)
	}
	for _, class := range d.Execute {
		known := slices.Contains(DatabaseConfig{}.executes(), class)
		problem(!known, "execute: class %q cannot be executed: use write, schema, unsafe_function, unknown", class)
	}
	problem(!d.writable() && (len(d.Execute) > 0 || d.DryRun), "execute and dry_run need write (sqlite) or write_env")
	return errs
}
