package resources

import (
	"errors"
	"flag"
	"slices"
	"strings"

	"agent-stop-and-go/mcpservers/hosting"
)

// Config has the settings of the server and the path of its database.
type Config struct {
	hosting.Settings `yaml:",inline"`
	DBPath           string `yaml:"db_path"` // the sessions are in the same file
}

// DefaultConfig returns settings for a server on loopback.
func DefaultConfig() Config {
	return Config{Settings: hosting.DefaultSettings(8090), DBPath: "./data/resources.db"}
}

// LoadConfig reads a YAML file over the defaults. One error reports all wrong lines of the
// file.
func LoadConfig(path string) (Config, error) {
	return hosting.LoadYAML(path, DefaultConfig(), keys)
}

// Bind adds --db to the flags of Settings.
func (c *Config) Bind(set *flag.FlagSet) {
	set.StringVar(&c.DBPath, "db", c.DBPath, "")
	c.Settings.Bind(set)
}

// Validate reports every invalid value.
func (c Config) Validate() error {
	err := c.Settings.Validate()
	if c.DBPath == "" {
		err = errors.Join(err, errors.New("db_path is empty: name a file, it is created when missing"))
	}
	return err
}

// keys are the keys of the file, by the Go type in yaml's errors.
var keys = map[string]string{"resources.Config": strings.Join(slices.Insert(hosting.Keys(), 2, "db_path"), ", ")}
