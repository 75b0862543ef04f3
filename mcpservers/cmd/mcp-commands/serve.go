package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"agent-stop-and-go/mcpservers/builtin"
	"agent-stop-and-go/mcpservers/commands"
	"agent-stop-and-go/mcpservers/commands/profile"
	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/server"
)

// settings are the file and the flags of a server.
type settings struct {
	profile.Config
	file          string // of the profiles; "": none
	profile       string
	directories   []string
	files         []string
	watch         bool
	convertDashes bool
	debug         bool
	tracing       string
	internal      []string
}

// Bind adds the flags of go-go-mcp to those of every server.
func (s *settings) Bind(set *flag.FlagSet) {
	s.directories, s.files, s.internal = nil, nil, nil // they are parsed twice
	s.Config.Bind(set)
	set.StringVar(&s.profile, "profile", s.profile, "")
	set.Func("directories", "", appendTo(&s.directories))
	set.Func("files", "", appendTo(&s.files))
	set.BoolVar(&s.watch, "watch", s.watch, "")
	set.BoolVar(&s.convertDashes, "convert-dashes", s.convertDashes, "")
	set.BoolVar(&s.debug, "debug", s.debug, "")
	set.StringVar(&s.tracing, "tracing-dir", s.tracing, "")
	set.Func("internal-servers", "", appendTo(&s.internal))
}

// appendTo takes a list with commas, and may be repeated.
func appendTo(list *[]string) func(string) error {
	return func(text string) error {
		for _, item := range strings.Split(text, ",") {
			if item = strings.TrimSpace(item); item == "" {
				return errors.New("an empty name in the list")
			}
			*list = append(*list, item)
		}
		return nil
	}
}

// sources are the profile, if there is one, and the folders and files of the flags.
func (s *settings) sources() ([]profile.Source, error) {
	var sources []profile.Source
	named := len(s.directories) + len(s.files)
	if s.profile != "" || s.DefaultProfile != "" {
		p, err := s.Config.Profile(s.profile)
		if err != nil {
			return nil, err
		}
		sources = p.Sources()
	} else if named == 0 && len(s.internal) == 0 {
		if len(s.Profiles) > 0 {
			_, err := s.Config.Profile("")
			return nil, err
		}
		return nil, errors.New("there are no definitions: name some with --directories or --files, or a file with profiles with --config (\"mcp-commands config init\" writes one)")
	}
	for _, path := range append(append([]string{}, s.directories...), s.files...) {
		sources = append(sources, profile.Source{Path: path})
	}
	return sources, nil
}

// load reads the definitions, and the file with profiles again, which may have changed.
func (s *settings) load() (profile.Set, error) {
	sources, err := s.current()
	if err != nil {
		return profile.Set{}, err
	}
	return profile.Collect(sources)
}

// current are the sources that the file has now.
func (s *settings) current() ([]profile.Source, error) {
	now := *s
	if s.file != "" {
		file, err := profile.Load(s.file)
		if err != nil {
			return nil, err
		}
		now.Profiles, now.DefaultProfile = file.Profiles, file.DefaultProfile
	}
	return now.sources()
}

// defaultFile is where config init writes.
func defaultFile() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "mcp-commands", "profiles.yaml")
}

// withDefaultFile names the file of config init if it exists and nothing else is named. It also accepts
// go-go-mcp's name of the flag.
func withDefaultFile(args []string) []string {
	args = append([]string{}, args...)
	named := false
	for i, arg := range args {
		for _, dashes := range []string{"--", "-"} {
			if rest, ok := strings.CutPrefix(arg, dashes+"config-file"); ok && (rest == "" || rest[0] == '=') {
				args[i] = "--config" + rest
			}
		}
		for _, flag := range []string{"config", "directories", "files", "internal-servers", "help", "h", "version"} {
			trimmed := strings.TrimLeft(args[i], "-")
			named = named || trimmed == flag || strings.HasPrefix(trimmed, flag+"=")
		}
	}
	file := defaultFile()
	if _, err := os.Stat(file); named || file == "" || err != nil {
		return args
	}
	return append([]string{"--config", file}, args...)
}

func newSettings() *settings { return &settings{Config: profile.Default(), watch: true} }

// server is the command "server": start is implied.
func (p process) server(ctx context.Context) error {
	if len(p.args) > 0 && p.args[0] == "tools" {
		p.args = p.args[1:]
		return p.tools(ctx)
	}
	if len(p.args) > 0 && p.args[0] == "start" {
		p.args = p.args[1:]
	}
	s := newSettings()
	getenv := p.getenv
	return hosting.Program{
		Name: commands.Name, Version: version, Usage: usage, Config: s,
		Load: func(path string) (err error) {
			s.file = path
			s.Config, err = profile.Load(path)
			return err
		},
		Serve: func(ctx context.Context, options hosting.Options) error { return s.serve(ctx, options, getenv) },
	}.Run(ctx, withDefaultFile(p.args), p.logLevel(p.args), p.stdin, p.stdout, p.stderr)
}

// logLevel makes --debug the level of the log.
func (p process) logLevel(args []string) func(string) string {
	return func(name string) string {
		if name == "LOG_LEVEL" {
			for _, arg := range args {
				if arg == "--debug" || arg == "-debug" {
					return "debug"
				}
			}
		}
		return p.getenv(name)
	}
}

func (s *settings) serve(ctx context.Context, options hosting.Options, getenv func(string) string) error {
	more, err := builtin.Tools(s.internal)
	if err != nil {
		return err
	}
	offered, err := commands.New(commands.Options{Load: s.load, More: more, ConvertDashes: s.convertDashes, Parallel: s.Parallel, Getenv: getenv, Log: options.Log})
	if err != nil {
		return err
	}
	m, end, err := s.traced(options.Log)
	if err != nil {
		return err
	}
	defer end()
	if err := offered.Register(m); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer stop()
	if s.watch {
		watching.Go(func() { s.follow(ctx, offered, options.Log) })
	}
	options.Settings = s.Settings
	return hosting.Run(ctx, options, m)
}

// traced makes the server of mcp-go, with a trace if the flags want one.
func (s *settings) traced(log *slog.Logger) (*server.MCPServer, func(), error) {
	if s.tracing == "" {
		return commands.NewMCPServer(), func() {}, nil
	}
	t, err := openTrace(s.tracing, log)
	if err != nil {
		return nil, nil, err
	}
	return commands.NewMCPServer(server.WithHooks(t.hooks())), func() { _ = t.Close() }, nil
}

func (s *settings) follow(ctx context.Context, offered *commands.Server, log *slog.Logger) {
	if err := offered.Watch(ctx, s.paths); err != nil {
		log.Error("changed files are not noticed", "error", err)
	}
}

// paths are what to watch.
func (s *settings) paths() (paths []string, err error) {
	sources, err := s.current()
	if err != nil {
		return nil, err
	}
	if s.file != "" {
		paths = append(paths, s.file)
	}
	for _, source := range sources {
		paths = append(paths, source.Path)
	}
	return paths, nil
}

// offline reads the definitions as the server would, for commands that need no server.
func (s *settings) offline(p process) (*commands.Server, error) {
	log, err := hosting.NewLogger(p.getenv, p.stderr, true)
	if err != nil {
		return nil, err
	}
	more, err := builtin.Tools(s.internal)
	if err != nil {
		return nil, err
	}
	offered, err := commands.New(commands.Options{Load: s.load, More: more, ConvertDashes: s.convertDashes, Getenv: p.getenv, Log: log})
	if err != nil {
		return nil, fmt.Errorf("prepare commands: %w", err)
	}
	return offered, nil
}
