package definition

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"agent-stop-and-go/mcpservers/hosting"

	"gopkg.in/yaml.v3"
)

// File is what one YAML file defines: exactly one of the pointers is set.
type File struct {
	Path     string
	Tool     *Tool
	Prompt   *Prompt
	Resource *Resource
}

// maxFile bounds a file of definitions.
const maxFile = 1 << 20

// Load reads one file. One error names all faults that were found, each with file and line.
// [Templates] are an error that names the command that rewrites them.
func Load(path string) (File, error) {
	data, err := readFile(path)
	if err != nil {
		return File{}, err
	}
	f, err := Parse(path, data)
	if err != nil {
		return File{}, err
	}
	return f, nil
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fmt.Errorf("%s: not a regular file of at most %d bytes", path, maxFile)
	}
	return os.ReadFile(path)
}

// Parse is Load for text that was already read. path is used in errors, and relative paths of the
// definition are below its folder.
func Parse(path string, data []byte) (File, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	if len(root.Content) == 0 || root.Content[0].Kind != yaml.MappingNode {
		return File{}, fmt.Errorf("%s: not a definition: it must be a mapping with name and command, shell-script, messages or uri", path)
	}
	f := File{Path: path}
	var err error
	switch {
	case hasKey(root.Content[0], "messages"):
		f.Prompt = new(Prompt)
		err = errors.Join(decode(data, f.Prompt), f.Prompt.check())
	case hasKey(root.Content[0], "uri"):
		f.Resource = new(Resource)
		if err = decode(data, f.Resource); err == nil {
			err = f.Resource.check(filepath.Dir(path))
		}
	default:
		if err := refuseTemplates(path, &root); err != nil {
			return File{}, err
		}
		f.Tool = &Tool{Lines: linesOf(root.Content[0])}
		if err = decode(data, f.Tool); err == nil {
			err = f.Tool.check(filepath.Dir(path))
		}
	}
	if err != nil {
		return File{}, prefix(path, err)
	}
	return f, nil
}

// decode refuses unknown keys and further documents.
func decode(data []byte, to any) error {
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(to); err != nil {
		return hosting.ExplainYAML(err, keys)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return errors.New("a file defines one thing: there is a second document")
	}
	return nil
}

// prefix puts the path in front of each line of an error, so that editors find the place.
func prefix(path string, err error) error {
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		lines[i] = path + ": " + line
	}
	return errors.New(strings.Join(lines, "\n"))
}

func hasKey(mapping *yaml.Node, key string) bool { return valueOf(mapping, key) != nil }

func valueOf(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// linesOf are the lines of the keys, for messages.
func linesOf(mapping *yaml.Node) map[string]int {
	lines := map[string]int{}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		lines[key.Value] = key.Line
		if value.Kind == yaml.ScalarNode && (value.Style == yaml.LiteralStyle || value.Style == yaml.FoldedStyle) {
			lines[key.Value]++ // the text begins on the next line
		}
	}
	return lines
}

// TemplateError says that a file has Go templates with values, as files of go-go-mcp have them.
type TemplateError struct {
	Path  string
	Lines []string // "LINE: the template", in order
}

// Error implements error.
func (e *TemplateError) Error() string {
	return fmt.Sprintf("%s:%s: a Go template would paste values into a command, where they can become code; "+
		"\"mcp-commands convert %s\" writes the safe form", e.Path, strings.Join(e.Lines, "\n"+e.Path+":"), e.Path)
}

var (
	action = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	values = regexp.MustCompile(`\.(Args|Env)\b`)
)

// templated are the keys in which go-go-mcp runs templates.
var templated = []string{"command", "shell-script", "cwd", "environment"}

// HasTemplates reports whether an old file needs to be converted.
func HasTemplates(root *yaml.Node) bool {
	return len(root.Content) > 0 && refuseTemplates("", root) != nil
}

// refuseTemplates only looks for templates with values: docker's --format '{{.Names}}' is text.
func refuseTemplates(path string, root *yaml.Node) error {
	var found []string
	for _, key := range templated {
		if node := valueOf(root.Content[0], key); node != nil {
			eachScalar(node, func(scalar *yaml.Node) { found = append(found, templatesOf(scalar)...) })
		}
	}
	if found == nil {
		return nil
	}
	return &TemplateError{Path: path, Lines: found}
}

func eachScalar(node *yaml.Node, visit func(*yaml.Node)) {
	if node.Kind == yaml.ScalarNode {
		visit(node)
	}
	for _, inner := range node.Content {
		eachScalar(inner, visit)
	}
}

func templatesOf(scalar *yaml.Node) (found []string) {
	first := scalar.Line
	if scalar.Style == yaml.LiteralStyle || scalar.Style == yaml.FoldedStyle {
		first++
	}
	for _, at := range action.FindAllStringIndex(scalar.Value, -1) {
		if text := scalar.Value[at[0]:at[1]]; values.MatchString(text) {
			found = append(found, fmt.Sprintf("%d: %s", first+strings.Count(scalar.Value[:at[0]], "\n"), strings.Join(strings.Fields(text), " ")))
		}
	}
	return found
}
