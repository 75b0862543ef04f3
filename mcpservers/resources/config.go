package resources

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// Config says where the server listens and where it keeps its data.
type Config struct {
	Host   string `yaml:"host"`
	Port   int    `yaml:"port"` // 0 picks a free one
	DBPath string `yaml:"db_path"`
}

// DefaultConfig listens on this machine only.
func DefaultConfig() Config {
	return Config{Host: "127.0.0.1", Port: 8090, DBPath: "./data/resources.db"}
}

// LoadConfig reads a YAML file over the defaults. A file with mistakes gives
// one error that names every wrong line.
func LoadConfig(path string) (Config, error) {
	file, err := os.Open(path)
	if err != nil {
		return Config{}, fmt.Errorf("read config: %w", err)
	}
	defer file.Close()
	config := DefaultConfig()
	decoder := yaml.NewDecoder(file)
	decoder.KnownFields(true)
	if err := decoder.Decode(&config); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, fmt.Errorf("parse config %s: %w", path, explain(err))
	}
	if err := config.Validate(); err != nil {
		return Config{}, fmt.Errorf("config %s: %w", path, err)
	}
	return config, nil
}

// Validate reports the values no server can start with.
func (c Config) Validate() error {
	var errs []error
	if c.Host == "" {
		errs = append(errs, errors.New("host is empty: use 127.0.0.1 for this machine only, 0.0.0.0 for every network"))
	}
	if c.Port < 0 || c.Port > 65535 {
		errs = append(errs, fmt.Errorf("port %d is out of range: 1 to 65535, or 0 for any free port", c.Port))
	}
	if c.DBPath == "" {
		errs = append(errs, errors.New("db_path is empty: name a file, it is created when missing"))
	}
	return errors.Join(errs...)
}

var unknownKey = regexp.MustCompile(`field (\S+) not found in type \S+`)

// explain puts yaml's account of Go types into the words of the file.
func explain(err error) error {
	wrong := new(yaml.TypeError)
	if !errors.As(err, &wrong) {
		return err
	}
	lines := make([]string, len(wrong.Errors))
	for i, line := range wrong.Errors {
		lines[i] = unknownKey.ReplaceAllString(line, `unknown key "$1", allowed: host, port, db_path`)
	}
	return errors.New(strings.Join(lines, "; "))
}
