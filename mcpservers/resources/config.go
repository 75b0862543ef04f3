package resources

import (
	"errors"
	"flag"
	"slices"
	"strings"

	"agent-stop-and-go/mcpservers/hosting"
)

// Config says how the server is reached and where it keeps its data.
type Config struct {
	hosting.Settings `yaml:",inline"`
	DBPath           string `yaml:"db_path"` // also of the sessions
}

// DefaultConfig listens on this machine only.
func DefaultConfig() Config {
	return Config{Settings: hosting.DefaultSettings(8090), DBPath: "./data/resources.db"}
}

// LoadConfig reads a YAML file over the defaults. A file with mistakes gives
// one error that names every wrong line.
func LoadConfig(path string) (Config, error) {
	return hosting.LoadYAML(path, DefaultConfig(), keys)
}

// Bind adds --db to the flags of Settings.
func (c *Config) Bind(set *flag.FlagSet) {
	set.StringVar(&c.DBPath, "db", c.DBPath, "")
	c.Settings.Bind(set)
}

// Validate reports the values no server can start with.
func (c Config) Validate() error {
	err := c.Settings.Validate()
	if c.DBPath == "" {
		err = errors.Join(err, errors.New("db_path is empty: name a file, it is created when missing"))
	}
	return err
}

// keys are the keys of the file, by the Go type that yaml names.
var keys = map[string]string{"resources.Config": strings.Join(slices.Insert(hosting.Keys(), 2, "db_path"), ", ")}
