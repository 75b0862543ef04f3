package convert

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template/parse"

	"agent-stop-and-go/mcpservers/commands/definition"
	"agent-stop-and-go/mcpservers/commands/script"

	"gopkg.in/yaml.v3"
)

// header begins a converted file.
const header = `# The command reaches no network and no files but its own folder, unless network, read and
# write say so. Without hints its callers ask a person each time.
`

// File returns the safe form of a tool file. A file without templates is returned as it is.
func File(path string, data []byte) ([]byte, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(root.Content) == 0 || root.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s: not a tool: it must be a mapping", path)
	}
	if !definition.HasTemplates(&root) {
		_, err := definition.Parse(path, data)
		return data, err
	}
	f, err := open(root.Content[0])
	if err == nil {
		err = f.rewrite()
	}
	if err != nil {
		return nil, inFile(path, err)
	}
	var out bytes.Buffer
	out.WriteString(header + f.private())
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(&root), encoder.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if _, err := definition.Parse(path, out.Bytes()); err != nil {
		return nil, fmt.Errorf("the converted file would not be safe, rewrite these lines of it by hand:\n%w\n\n%s", err, numbered(out.String()))
	}
	return out.Bytes(), nil
}

// numbered shows the result that was refused.
func numbered(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		fmt.Fprintf(&b, "%4d  %s\n", i+1, line)
	}
	return b.String()
}

func inFile(path string, err error) error {
	return errors.New(path + ": " + strings.ReplaceAll(err.Error(), "\n", "\n"+path+": "))
}

// old is a file with templates.
type old struct {
	mapping *yaml.Node
	*scope
}

func open(mapping *yaml.Node) (*old, error) {
	var t struct {
		Flags     []definition.Parameter `yaml:"flags"`
		Arguments []definition.Parameter `yaml:"arguments"`
		Layers    []definition.Layer     `yaml:"layers"`
	}
	if err := mapping.Decode(&t); err != nil {
		return nil, err
	}
	parameters := append(definition.Parameters(t.Flags), t.Arguments...)
	for _, l := range t.Layers {
		parameters = append(parameters, l.Flags...)
	}
	return &old{mapping, &scope{parameters: parameters, arrays: map[string]bool{}, env: map[string]bool{}}}, nil
}

func (f *old) get(key string) *yaml.Node {
	for i := 0; i+1 < len(f.mapping.Content); i += 2 {
		if f.mapping.Content[i].Value == key {
			return f.mapping.Content[i+1]
		}
	}
	return nil
}

func (f *old) remove(key string) {
	for i := 0; i+1 < len(f.mapping.Content); i += 2 {
		if f.mapping.Content[i].Value == key {
			f.mapping.Content = slices.Delete(f.mapping.Content, i, i+2)
			return
		}
	}
}

func (f *old) set(key string, value *yaml.Node) {
	if node := f.get(key); node != nil {
		*node = *value
		return
	}
	f.mapping.Content = append(f.mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key}, value)
}

// rewrite converts command or shell-script, environment and cwd.
func (f *old) rewrite() error {
	before, err := f.exports()
	if err != nil {
		return err
	}
	if cwd := f.get("cwd"); cwd != nil && strings.Contains(cwd.Value, "{{") {
		words, err := f.word(cwd)
		if err != nil {
			return err
		}
		f.remove("cwd")
		before = append(before, "cd -- "+words)
	}
	switch command, source := f.get("command"), f.get("shell-script"); {
	case source != nil:
		err = f.script(source, before)
	case command != nil:
		err = f.command(command, before)
	}
	if err != nil {
		return err
	}
	if len(f.env) > 0 {
		list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, name := range slices.Sorted(maps.Keys(f.env)) {
			list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name})
		}
		f.set("pass-environment", list)
	}
	return nil
}

var pure = regexp.MustCompile(`^\s*\{\{-?\s*\.Args\.([A-Za-z0-9_]+)\s*-?\}\}\s*$`)

// reference turns a text that is one template into {argument}.
func (f *old) reference(text string) (string, *definition.Parameter, bool) {
	m := pure.FindStringSubmatch(text)
	if m == nil {
		return "", nil, false
	}
	p := f.parameters.Get(m[1])
	if p == nil {
		return "", nil, false
	}
	return "{" + p.Name + "}", p, true
}

// exports converts the environment. What mixes templates with text becomes a line of the script.
func (f *old) exports() (lines []string, err error) {
	environment := f.get("environment")
	if environment == nil {
		return nil, nil
	}
	for i := 0; i+1 < len(environment.Content); {
		name, value := environment.Content[i], environment.Content[i+1]
		if !strings.Contains(value.Value, "{{") {
			i += 2
			continue
		}
		if element, p, ok := f.reference(value.Value); ok && !p.IsList() {
			value.Value, value.Style = element, yaml.DoubleQuotedStyle
			i += 2
			continue
		}
		word, err := f.word(value)
		if err != nil {
			return nil, err
		}
		lines = append(lines, "export "+name.Value+"="+word)
		environment.Content = slices.Delete(environment.Content, i, i+2)
	}
	if len(environment.Content) == 0 {
		f.remove("environment")
	}
	return lines, nil
}

// word converts a text with templates to one word of the shell.
func (f *old) word(node *yaml.Node) (string, error) {
	tree := parse.New("text")
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(node.Value, "", "", map[string]*parse.Tree{}); err != nil {
		return "", fmt.Errorf("line %d: %w", node.Line, err)
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, n := range tree.Root.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			for _, c := range string(n.Text) {
				if strings.ContainsRune("\"$`\\", c) {
					b.WriteByte('\\')
				}
				b.WriteRune(c)
			}
		case *parse.ActionNode:
			text, err := f.expression(n.Pipe)
			if err != nil {
				return "", fmt.Errorf("line %d: %w", node.Line, err)
			}
			b.WriteString(text)
		default:
			return "", fmt.Errorf("line %d: the template %s is not known", node.Line, n)
		}
	}
	b.WriteByte('"')
	return b.String(), nil
}

// command converts the list, or makes a script of it if an element is more than one argument.
func (f *old) command(list *yaml.Node, before []string) error {
	var elements []*yaml.Node
	plain := len(before) == 0
	for _, node := range list.Content {
		element := &yaml.Node{Kind: yaml.ScalarNode, Value: node.Value, Style: node.Style}
		if strings.Contains(node.Value, "{{") {
			name, p, ok := f.reference(node.Value)
			if !ok {
				plain = false
				break
			}
			element = &yaml.Node{Kind: yaml.ScalarNode, Value: name, Style: yaml.DoubleQuotedStyle}
			if !p.Required && p.Default == nil && !p.IsBool() && !p.IsList() {
				element = &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: []*yaml.Node{element}}
			}
		}
		elements = append(elements, element)
	}
	if plain {
		list.Content = elements
		return nil
	}
	words := []string{"exec"}
	for _, node := range list.Content {
		word, err := f.word(node)
		if err != nil {
			return err
		}
		words = append(words, word)
	}
	f.remove("command")
	f.set("shell-script", block("#!/bin/bash\nset -euo pipefail\n"+f.prelude()+strings.Join(append(before, strings.Join(words, " ")), "\n")+"\n"))
	return nil
}

// script converts shell-script. Lines that are needed before it stand behind the first one if that is
// "#!".
func (f *old) script(node *yaml.Node, before []string) error {
	s, err := build(node.Value)
	if err != nil {
		return fmt.Errorf("line %d: %w", node.Line+1, err)
	}
	text, err := s.emit(f.scope)
	if err != nil {
		return atLine(err, node.Line)
	}
	if faults, err := script.Check(text, false, f.sources()); err == nil && slices.ContainsFunc(faults, func(f script.Fault) bool { return strings.HasPrefix(f.Text, "eval ") }) {
		text = assemble(text, f.sources())
	}
	text, err = quote(text, f.sources())
	if err != nil {
		return fmt.Errorf("line %d: the converted script: %w", node.Line+1, err)
	}
	first := ""
	if strings.HasPrefix(text, "#!") {
		end := strings.Index(text, "\n") + 1
		first, text = text[:end], text[end:]
	}
	prelude := f.prelude()
	if len(before) > 0 {
		prelude += strings.Join(before, "\n") + "\n"
	}
	*node = *block(first + prelude + text)
	return nil
}

var lineNumber = regexp.MustCompile(`(?m)^line (\d+)`)

// atLine turns lines of the script into lines of the file.
func atLine(err error, first int) error {
	return errors.New(lineNumber.ReplaceAllStringFunc(err.Error(), func(text string) string {
		var n int
		fmt.Sscanf(text, "line %d", &n)
		return fmt.Sprintf("line %d", first+n)
	}))
}

func (f *old) sources() map[string]bool {
	t := definition.Tool{Parameters: f.parameters}
	return t.Sources()
}

// quote puts quotes around values that have none, where that is all that is missing.
func quote(text string, sources map[string]bool) (string, error) {
	for range 1000 {
		faults, err := script.Check(text, false, sources)
		if err != nil {
			return "", err
		}
		at := slices.IndexFunc(faults, func(f script.Fault) bool { return f.Quote })
		if at < 0 {
			return text, nil
		}
		text = text[:faults[at].Offset] + `"` + text[faults[at].Offset:faults[at].End] + `"` + text[faults[at].End:]
	}
	return text, nil
}

// prelude makes arrays of lists.
func (f *old) prelude() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(f.arrays)) {
		variable := definition.Variable(name)
		fmt.Fprintf(&b, "%s=()\nfor ((i = 0; i < %s_COUNT; i++)); do n=\"%s_$i\"; %s+=(\"${!n}\"); done\n", array(name), variable, variable, array(name))
	}
	return b.String()
}

func block(text string) *yaml.Node {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t") // a text with such lines cannot be a block
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.LiteralStyle, Value: strings.Join(lines, "\n")}
}
