package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"agent-stop-and-go/mcpservers/commands/definition"
)

// Set are the definitions of a profile.
type Set struct {
	Files    []definition.File
	Warnings []string // what has no effect
}

// Collect reads all definitions. One error names all faults of all files. A file that several
// sources name is read once, with what each of them says.
func Collect(sources []Source) (Set, error) {
	var set Set
	var errs []error
	by := map[string][]Source{}
	var order []string
	for _, source := range sources {
		files, err := list(source.Path)
		if err != nil {
			errs = append(errs, err)
		}
		for _, file := range files {
			if by[file] == nil {
				order = append(order, file)
			}
			by[file] = append(by[file], source)
		}
	}
	names := map[string]string{}
	for _, path := range order {
		file, err := definition.Load(path)
		if err == nil {
			err = set.add(file, by[path], names)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return Set{}, errors.Join(errs...)
	}
	return set, nil
}

func (s *Set) add(file definition.File, sources []Source, names map[string]string) error {
	id := identity(file)
	if other, ok := names[id]; ok {
		return fmt.Errorf("%s: there is another %s in %s", file.Path, id, other)
	}
	names[id] = file.Path
	if file.Tool != nil {
		for _, source := range sources {
			warnings, err := source.Apply(file.Tool)
			if err != nil {
				return fmt.Errorf("%s: %w", file.Path, err)
			}
			if filepath.Clean(source.Path) == filepath.Clean(file.Path) { // a folder's may be for others in it
				s.Warnings = append(s.Warnings, prefixed(file.Path, warnings)...)
			}
		}
		if !file.Tool.Hints.Complete() {
			s.Warnings = append(s.Warnings, file.Path+": there are no hints: callers must ask a person each time (hints: {read-only: true}, or destructive: true or false)")
		}
	}
	s.Files = append(s.Files, file)
	return nil
}

func prefixed(path string, lines []string) []string {
	for i := range lines {
		lines[i] = path + ": " + lines[i]
	}
	return lines
}

func identity(file definition.File) string {
	switch {
	case file.Tool != nil:
		return "tool " + file.Tool.Name
	case file.Prompt != nil:
		return "prompt " + file.Prompt.Name
	}
	return "resource " + file.Resource.URI
}

// list returns a file, or the YAML files below a folder.
func list(path string) (files []string, err error) {
	err = filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if at != path && strings.HasPrefix(entry.Name(), ".") {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		extension := filepath.Ext(at)
		if !entry.IsDir() && (at == path || extension == ".yaml" || extension == ".yml") {
			files = append(files, filepath.Clean(at))
		}
		return nil
	})
	return files, err
}

// Apply changes the parameters of a tool. What it names and the tool does not have is a warning.
func (s Source) Apply(t *definition.Tool) (warnings []string, err error) {
	unknown := func(what, layer, name string) {
		warnings = append(warnings, fmt.Sprintf("%s: the tool %s has no argument %s in the layer %s", what, t.Name, name, layer))
	}
	set := func(what string, values map[string]map[string]any, hide bool) error {
		for _, layer := range slices.Sorted(maps.Keys(values)) {
			for _, name := range slices.Sorted(maps.Keys(values[layer])) {
				p := t.Parameters.Get(name)
				if p == nil || p.Layer != layer {
					unknown(what, layer, name)
					continue
				}
				if _, err := p.Set(values[layer][name]); err != nil {
					return fmt.Errorf("%s: %s: %w", what, name, err)
				}
				p.Default, p.Hidden = values[layer][name], p.Hidden || hide
			}
		}
		return nil
	}
	if err := errors.Join(set("defaults", s.Defaults, false), set("overrides", s.Overrides, true)); err != nil {
		return nil, err
	}
	for layer, names := range s.Blacklist {
		for _, name := range names {
			if p := t.Parameters.Get(name); p != nil && p.Layer == layer {
				p.Hidden = true
			} else {
				unknown("blacklist", layer, name)
			}
		}
	}
	for layer, names := range s.Whitelist {
		for i := range t.Parameters {
			p := &t.Parameters[i]
			p.Hidden = p.Hidden || p.Layer == layer && !slices.Contains(names, p.Name)
		}
		for _, name := range names {
			if p := t.Parameters.Get(name); p == nil || p.Layer != layer {
				unknown("whitelist", layer, name)
			}
		}
	}
	for _, p := range t.Parameters {
		if p.Hidden && p.Required && p.Default == nil {
			return nil, fmt.Errorf("the argument %s is required, callers do not see it, and it has no default: give it a value in overrides", p.Name)
		}
	}
	slices.Sort(warnings)
	return warnings, nil
}
