package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"agent-stop-and-go/mcpservers/commands/profile"

	"github.com/google/renameio/v2"
	"gopkg.in/yaml.v3"
)

const firstFile = `# Profiles of mcp-commands. mcp-commands --help lists every key and flag.
version: "1"
defaultProfile: default

profiles:
  default:
    description: Tools of this machine
    tools:
      directories: []
      files: []
`

// config writes and reads the file with profiles. What a person wrote around them stays.
func (p process) config() error {
	if len(p.args) == 0 {
		return errors.New("config needs init, add-profile, duplicate-profile, add-tool, list-profiles, show-profile or set-default-profile (see --help)")
	}
	set := flag.NewFlagSet("config", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	path := set.String("config", defaultFile(), "")
	dir, file := set.String("dir", "", ""), set.String("file", "", "")
	var words []string
	for rest := p.args[1:]; ; rest = set.Args()[1:] { // flags may stand behind names
		if err := set.Parse(rest); err != nil {
			return fmt.Errorf("%w (see --help)", err)
		}
		if set.NArg() == 0 {
			break
		}
		words = append(words, set.Arg(0))
	}
	if *path == "" {
		return errors.New("there is no folder for settings: name the file with --config")
	}
	verb := p.args[0]
	want := map[string][2]int{"init": {0, 0}, "add-profile": {1, 2}, "duplicate-profile": {2, 2}, "add-tool": {1, 1}, "list-profiles": {0, 0}, "show-profile": {1, 1}, "set-default-profile": {1, 1}}
	number, ok := want[verb]
	if !ok {
		return fmt.Errorf("unknown command: config %s (see --help)", verb)
	}
	if len(words) < number[0] || len(words) > number[1] {
		return fmt.Errorf("config %s: wrong number of names (see --help)", verb)
	}
	if verb == "init" {
		return initialise(*path)
	}
	return p.change(*path, verb, words, *dir, *file)
}

func initialise(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("config init: %w", err)
	}
	_, err = file.WriteString(firstFile)
	return errors.Join(err, file.Close())
}

// change reads the file, and writes it only if the result is valid.
func (p process) change(path, verb string, words []string, dir, file string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w (\"mcp-commands config init\" writes one)", err)
	}
	if err != nil {
		return err
	}
	config, err := profile.Load(path)
	if err != nil {
		return err
	}
	if verb == "list-profiles" {
		for _, name := range slices.Sorted(maps.Keys(config.Profiles)) {
			mark := " "
			if name == config.DefaultProfile {
				mark = "*"
			}
			if _, err := fmt.Fprintf(p.stdout, "%s %-24s %s\n", mark, name, config.Profiles[name].Description); err != nil {
				return err
			}
		}
		return nil
	}
	if verb != "add-profile" {
		if _, err := config.Profile(words[0]); err != nil {
			return err
		}
	}
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return err
	}
	profiles := child(root.Content[0], "profiles", yaml.MappingNode)
	switch verb {
	case "show-profile":
		return encode(p.stdout, child(profiles, words[0], yaml.MappingNode))
	case "set-default-profile":
		child(root.Content[0], "defaultProfile", yaml.ScalarNode).SetString(words[0])
	case "duplicate-profile":
		if err := absent(config, words[1]); err != nil {
			return err
		}
		copied := *child(profiles, words[0], yaml.MappingNode)
		profiles.Content = append(profiles.Content, name(words[1]), &copied)
	case "add-profile":
		if err := absent(config, words[0]); err != nil {
			return err
		}
		added := child(profiles, words[0], yaml.MappingNode)
		if len(words) > 1 {
			child(added, "description", yaml.ScalarNode).SetString(words[1])
		}
	case "add-tool":
		if (dir == "") == (file == "") {
			return errors.New("config add-tool needs --dir or --file")
		}
		tools := child(child(profiles, words[0], yaml.MappingNode), "tools", yaml.MappingNode)
		key, source := "directories", dir
		if file != "" {
			key, source = "files", file
		}
		// A server reads relative paths from its own folder, which need not be this one.
		if source, err = filepath.Abs(source); err != nil {
			return err
		}
		list := child(tools, key, yaml.SequenceNode)
		list.Style = 0
		list.Content = append(list.Content, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{name("path"), name(source)}})
	}
	return store(path, &root)
}

func absent(config profile.Config, name string) error {
	if _, ok := config.Profiles[name]; ok {
		return fmt.Errorf("there is a profile %s already", name)
	}
	return nil
}

func name(text string) *yaml.Node {
	n := new(yaml.Node)
	n.SetString(text)
	return n
}

// child returns the value of a key, which it adds if it is missing.
func child(mapping *yaml.Node, key string, kind yaml.Kind) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			if value := mapping.Content[i+1]; value.Kind == kind {
				return value
			}
			*mapping.Content[i+1] = yaml.Node{Kind: kind} // "tools:" with nothing behind it
			return mapping.Content[i+1]
		}
	}
	value := &yaml.Node{Kind: kind}
	mapping.Content = append(mapping.Content, name(key), value)
	return value
}

func encode(to io.Writer, node *yaml.Node) error {
	e := yaml.NewEncoder(to)
	e.SetIndent(2)
	return errors.Join(e.Encode(node), e.Close())
}

// store writes the file if it can be read again.
func store(path string, root *yaml.Node) error {
	var text bytes.Buffer
	if err := encode(&text, root); err != nil {
		return err
	}
	pending, err := renameio.NewPendingFile(path, renameio.WithExistingPermissions())
	if err != nil {
		return err
	}
	defer pending.Cleanup()
	if _, err := pending.Write(text.Bytes()); err != nil {
		return err
	}
	if _, err := profile.Load(pending.Name()); err != nil {
		return err
	}
	return pending.CloseAtomicallyReplace()
}
