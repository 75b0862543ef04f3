package prompt

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"agent-stop-and-go/mcpservers/hosting"
)

// Config has the settings of the server and of its directory.
type Config struct {
	hosting.Settings `yaml:",inline"`
	Directory        string `yaml:"directory"`
	// Create is the text of a new prompt, if the directory has none. Empty: none is made.
	Create string `yaml:"create"`
	// Versions is how many versions are kept.
	Versions int `yaml:"versions"`
}

// DefaultConfig returns settings for a server on loopback.
func DefaultConfig() Config {
	return Config{Settings: hosting.DefaultSettings(8095), Directory: "./prompt", Versions: DefaultVersions}
}

// LoadConfig reads a YAML file over the defaults. One error reports all mistakes of the file.
func LoadConfig(path string) (Config, error) { return hosting.LoadYAML(path, DefaultConfig(), keys) }

// keys are the allowed keys, by the Go type in errors of yaml.
var keys = map[string]string{"prompt.Config": strings.Join(append(hosting.Keys(), "directory", "create", "versions"), ", ")}

// Bind adds the flags of the server.
func (c *Config) Bind(set *flag.FlagSet) {
	set.StringVar(&c.Directory, "directory", c.Directory, "")
	set.StringVar(&c.Create, "create", c.Create, "")
	set.IntVar(&c.Versions, "versions", c.Versions, "")
	c.Settings.Bind(set)
}

// Validate reports every invalid value.
func (c Config) Validate() error {
	err := c.Settings.Validate()
	if c.Directory == "" {
		err = errors.Join(err, errors.New("directory is empty: name the directory of the prompt"))
	}
	if c.Versions < 2 || c.Versions > MaxVersions {
		err = errors.Join(err, fmt.Errorf("versions %d must be 2 to %d", c.Versions, MaxVersions))
	}
	return err
}

// MaxVersions are kept at most.
const MaxVersions = 10_000
