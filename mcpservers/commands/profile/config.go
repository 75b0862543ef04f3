package profile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"agent-stop-and-go/mcpservers/hosting"
)

// Config is the file: settings of the server and its profiles.
type Config struct {
	hosting.Settings `yaml:",inline"`

	Version        string             `yaml:"version"`
	DefaultProfile string             `yaml:"defaultProfile"`
	Profiles       map[string]Profile `yaml:"profiles"`
	// Parallel is the number of commands that run at the same time.
	Parallel int `yaml:"parallel"`
}

// Profile is a named choice of definitions.
type Profile struct {
	Description string  `yaml:"description"`
	Tools       Sources `yaml:"tools"`
	Prompts     Sources `yaml:"prompts"`
	Resources   Sources `yaml:"resources"`
}

// Sources are folders and files.
type Sources struct {
	Directories []Source `yaml:"directories,omitempty"`
	Files       []Source `yaml:"files,omitempty"`
	External    []any    `yaml:"external_commands,omitempty"`
}

// Source is one folder or file, and what holds for its tools.
type Source struct {
	Path      string                    `yaml:"path"`
	Defaults  map[string]map[string]any `yaml:"defaults,omitempty"`
	Overrides map[string]map[string]any `yaml:"overrides,omitempty"`
	Whitelist map[string][]string       `yaml:"whitelist,omitempty"`
	Blacklist map[string][]string       `yaml:"blacklist,omitempty"`
}

// DefaultPort is the port of go-go-mcp.
const DefaultPort = 3001

// Default is a configuration for stdio without profiles.
func Default() Config {
	settings := hosting.DefaultSettings(DefaultPort)
	settings.Transport = hosting.TransportStdio
	return Config{Settings: settings, Parallel: 8}
}

// Load reads a file over the defaults.
func Load(path string) (Config, error) { return hosting.LoadYAML(path, Default(), keys) }

// Validate reports every invalid value.
func (c Config) Validate() error {
	errs := []error{c.Settings.Validate()}
	if c.Version != "" && c.Version != "1" {
		errs = append(errs, fmt.Errorf("version %q is unknown: only \"1\"", c.Version))
	}
	if c.Parallel < 1 || c.Parallel > 1000 {
		errs = append(errs, fmt.Errorf("parallel is %d: it must be 1 to 1000", c.Parallel))
	}
	if c.DefaultProfile != "" {
		if _, err := c.Profile(""); err != nil {
			errs = append(errs, fmt.Errorf("defaultProfile: %w", err))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Profiles)) {
		p := c.Profiles[name]
		for _, source := range p.Sources() {
			if source.Path == "" {
				errs = append(errs, fmt.Errorf("profiles.%s: a source has no path", name))
			}
		}
		if len(p.Tools.External)+len(p.Prompts.External)+len(p.Resources.External) > 0 {
			errs = append(errs, fmt.Errorf("profiles.%s: external_commands is not supported: write a file with command", name))
		}
	}
	return errors.Join(errs...)
}

// Profile returns a profile, the default one for "".
func (c Config) Profile(name string) (Profile, error) {
	if name == "" {
		name = c.DefaultProfile
	}
	if p, ok := c.Profiles[name]; ok {
		return p, nil
	}
	if name == "" {
		return Profile{}, errors.New("no profile is named: use --profile, or defaultProfile in the file")
	}
	return Profile{}, fmt.Errorf("profile %s not found: there are %s", name, strings.Join(slices.Sorted(maps.Keys(c.Profiles)), ", "))
}

// Sources are all sources of a profile, folders first.
func (p Profile) Sources() (all []Source) {
	for _, s := range []Sources{p.Tools, p.Prompts, p.Resources} {
		all = append(append(all, s.Directories...), s.Files...)
	}
	return all
}

var keys = map[string]string{
	"profile.Config":  strings.Join(hosting.Keys(), ", ") + ", version, defaultProfile, profiles, parallel",
	"profile.Profile": "description, tools, prompts, resources",
	"profile.Sources": "directories, files",
	"profile.Source":  "path, defaults, overrides, whitelist, blacklist",
}
