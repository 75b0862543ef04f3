package definition

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/mcpservers/commands/script"
	"agent-stop-and-go/mcpservers/hosting"

	"gopkg.in/yaml.v3"
)

// Tool is the definition of one tool.
type Tool struct {
	Name          string            `yaml:"name"`
	Short         string            `yaml:"short"`
	Long          string            `yaml:"long"`
	Flags         []Parameter       `yaml:"flags"`
	Arguments     []Parameter       `yaml:"arguments"`
	Layers        []Layer           `yaml:"layers"`
	Command       []Element         `yaml:"command"`
	Script        string            `yaml:"shell-script"`
	Cwd           string            `yaml:"cwd"` // relative to the file; empty: a new empty folder for each call
	Environment   map[string]string `yaml:"environment"`
	CaptureStderr bool              `yaml:"capture-stderr"`

	// Hints are what the tool declares to clients. Without them it counts as destructive, so that
	// callers ask a person.
	Hints *Hints `yaml:"hints"`
	// Network lets the command use the network.
	Network bool `yaml:"network"`
	// Read and Write are files and folders that the command may use, relative to the file, beside
	// programs, libraries and its own folder.
	Read  []string `yaml:"read"`
	Write []string `yaml:"write"`
	// PassEnvironment are names of variables of the server that the command gets.
	PassEnvironment []string `yaml:"pass-environment"`
	// SHA256 is the hexadecimal digest that the program must have on each call.
	SHA256 string `yaml:"sha256"`
	// Shell runs shell-script; default /bin/bash.
	Shell  string `yaml:"shell"`
	Limits Limits `yaml:"limits"`

	// Lines are the lines of the keys in the file.
	Lines map[string]int `yaml:"-"`
	// Parameters are those of flags, arguments and layers.
	Parameters Parameters `yaml:"-"`
	folder     string
}

// Hints are the properties of a tool in the protocol. A nil one has the protocol's default.
type Hints struct {
	ReadOnly    *bool `yaml:"read-only"`
	Destructive *bool `yaml:"destructive"`
	Idempotent  *bool `yaml:"idempotent"`
	OpenWorld   *bool `yaml:"open-world"`
}

// Limits bound one call. 0 is the server's default.
type Limits struct {
	Time   hosting.Span `yaml:"time"`
	Memory string       `yaml:"memory"` // of each process, such as 256MiB
	Output int          `yaml:"output"` // of each stream in bytes

	memory int64
}

// MemoryBytes is the limit of memory, 0 if there is none.
func (l Limits) MemoryBytes() int64 { return l.memory }

var (
	toolName     = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	digest       = regexp.MustCompile(`^[0-9a-f]{64}$`)
	amount       = regexp.MustCompile(`^(\d{1,9})(KiB|MiB|GiB)$`)
)

// check completes the definition and reports all its faults.
func (t *Tool) check(folder string) error {
	t.folder = folder
	var errs []error
	add := func(key string, err error) {
		if err != nil {
			errs = append(errs, t.at(key, err))
		}
	}
	if !toolName.MatchString(t.Name) {
		add("name", fmt.Errorf("name %q: use 1 to 64 letters, digits, dots, _ or -", t.Name))
	}
	if strings.TrimSpace(t.Short) == "" {
		add("name", errors.New("short is required: it tells a model what the tool does"))
	}
	t.collect()
	for _, err := range t.Parameters.check() {
		add("flags", err)
	}
	add("hints", t.Hints.check())
	add("environment", t.checkEnvironment())
	add("limits", t.Limits.check())
	if t.SHA256 != "" && !digest.MatchString(t.SHA256) {
		add("sha256", errors.New("sha256 must have 64 hexadecimal digits in lower case"))
	}
	add("cwd", t.resolvePaths())
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	switch {
	case (t.Script != "") == (len(t.Command) > 0):
		add("name", errors.New("either shell-script or command must be specified"))
	case t.Script != "":
		errs = append(errs, t.checkScript()...)
	default:
		for _, err := range t.checkCommand() {
			add("command", err)
		}
	}
	return errors.Join(errs...)
}

// at adds the line of a key.
func (t *Tool) at(key string, err error) error {
	if line := t.Lines[key]; line > 0 {
		return fmt.Errorf("line %d: %w", line, err)
	}
	return err
}

func (t *Tool) collect() {
	t.Parameters = nil
	add := func(layer string, list []Parameter) {
		for _, p := range list {
			p.Layer = layer
			t.Parameters = append(t.Parameters, p)
		}
	}
	add(DefaultLayer, t.Flags)
	add(DefaultLayer, t.Arguments)
	for _, l := range t.Layers {
		add(l.Slug, l.Flags)
	}
}

func (h *Hints) check() error {
	if h != nil && isTrue(h.ReadOnly) && isTrue(h.Destructive) {
		return errors.New("hints: a tool cannot be read-only and destructive")
	}
	return nil
}

func isTrue(b *bool) bool { return b != nil && *b }

// Complete reports whether the hints say how dangerous the tool is: read-only, or destructive or not.
func (h *Hints) Complete() bool {
	return h != nil && (isTrue(h.ReadOnly) || h.Destructive != nil)
}

func (l *Limits) check() error {
	if l.Memory != "" {
		m := amount.FindStringSubmatch(l.Memory)
		if m == nil {
			return fmt.Errorf("memory %q: write a whole number with KiB, MiB or GiB, such as 256MiB", l.Memory)
		}
		for _, digit := range m[1] {
			l.memory = 10*l.memory + int64(digit-'0')
		}
		l.memory <<= map[string]int{"KiB": 10, "MiB": 20, "GiB": 30}[m[2]]
		if l.memory < 1<<20 {
			return errors.New("memory must be 1MiB or more")
		}
	}
	if l.Time < 0 || l.Time > 0 && l.Time < hosting.Span(time.Millisecond) || l.Time > hosting.Span(24*time.Hour) {
		return errors.New("time must be between 1ms and 24h")
	}
	if l.Output < 0 || l.Output > maxOutput {
		return fmt.Errorf("output must be at most %d bytes", maxOutput)
	}
	return nil
}

const maxOutput = 16 << 20

// reserved are variables with which a value could run code or replace a program.
var reserved = regexp.MustCompile(`^(PATH|IFS|ENV|BASH_ENV|BASHOPTS|SHELLOPTS|PS[0-4]|PROMPT_COMMAND|SHELL|EDITOR|VISUAL|PAGER|HOME|CDPATH|GLOBIGNORE|BASH_FUNC_.*|LD_.*|DYLD_.*|GIT_.*|PYTHON.*|PERL.*|RUBY.*|NODE_.*|JAVA_.*|.*_OPTIONS|.*_OPTS|GCONV_PATH|LESS.*|MAN.*|LOCPATH|TMPDIR|MAKEFLAGS|MAKEFILES|GOFLAGS|OPENSSL_CONF|CURL_HOME|WGETRC|RSYNC_RSH|XDG_CONFIG_HOME)$`)

func (t *Tool) checkEnvironment() error {
	var errs []error
	for name, value := range t.Environment {
		if !variableName.MatchString(name) {
			errs = append(errs, fmt.Errorf("environment: %q is not the name of a variable", name))
		}
		argument, is, err := t.reference(value)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("environment: %s: %w", name, err))
		case is && reserved.MatchString(name):
			errs = append(errs, fmt.Errorf("environment: %s must not be the argument %s: programs run code by it", name, argument))
		case is && t.Parameters.Get(argument).IsList():
			errs = append(errs, fmt.Errorf("environment: %s: the argument %s is a list", name, argument))
		}
	}
	for _, name := range t.PassEnvironment {
		if !variableName.MatchString(name) {
			errs = append(errs, fmt.Errorf("pass-environment: %q is not the name of a variable", name))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// resolvePaths makes paths absolute and wants them to exist, because what does not exist cannot be
// opened to a command.
func (t *Tool) resolvePaths() error {
	var errs []error
	resolve := func(key string, path *string) {
		if !filepath.IsAbs(*path) {
			*path = filepath.Join(t.folder, *path)
		}
		absolute, err := filepath.Abs(*path)
		if err == nil {
			*path = absolute
			_, err = os.Stat(absolute)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", key, err))
		}
	}
	if t.Cwd != "" {
		resolve("cwd", &t.Cwd)
		if info, err := os.Stat(t.Cwd); err == nil && !info.IsDir() {
			errs = append(errs, fmt.Errorf("cwd: %s is not a folder", t.Cwd))
		}
	}
	for i := range t.Read {
		resolve("read", &t.Read[i])
	}
	for i := range t.Write {
		resolve("write", &t.Write[i])
	}
	return errors.Join(errs...)
}

// checkScript reports what the script must not do with values.
func (t *Tool) checkScript() []error {
	if t.Shell == "" {
		t.Shell = "/bin/bash"
	}
	if !filepath.IsAbs(t.Shell) {
		return []error{t.at("shell", fmt.Errorf("shell %q must be an absolute path", t.Shell))}
	}
	if len(t.Script) > maxValue {
		return []error{t.at("shell-script", fmt.Errorf("the script has %d bytes, at most %d are allowed: put it into a file and run that with command", len(t.Script), maxValue))}
	}
	faults, err := script.Check(t.Script, filepath.Base(t.Shell) != "bash", t.Sources())
	if err != nil {
		return []error{t.at("shell-script", fmt.Errorf("shell-script: %w", err))}
	}
	var errs []error
	for _, f := range faults {
		errs = append(errs, fmt.Errorf("line %d: shell-script: %s", t.Lines["shell-script"]+f.Line-1, f.Text))
	}
	return errs
}

// Sources are the variables of a script that hold text of callers. Numbers, booleans, dates and
// choices are harmless wherever they stand.
func (t *Tool) Sources() map[string]bool {
	sources := map[string]bool{}
	for i := range t.Parameters {
		if p := &t.Parameters[i]; p.kind() == text || p.kind() == texts {
			sources[Variable(p.Name)] = true
			sources[Variable(p.Name)+"_JSON"] = true
			if p.IsList() {
				sources["ARGS"+strings.TrimPrefix(Variable(p.Name), "ARG")] = true // the array of converted files
			}
		}
	}
	return sources
}

// keys are the keys of the files, by the Go type in yaml's errors.
var keys = map[string]string{
	"definition.Tool":      "name, short, long, flags, arguments, layers, command, shell-script, cwd, environment, capture-stderr, hints, network, read, write, pass-environment, sha256, shell, limits",
	"definition.Parameter": "name, shortFlag, type, help, default, choices, required, allow-dash",
	"definition.Layer":     "slug, name, description, flags",
	"definition.Hints":     "read-only, destructive, idempotent, open-world",
	"definition.Limits":    "time, memory, output",
	"definition.Prompt":    "name, short, long, flags, arguments, messages",
	"definition.Message":   "role, text",
	"definition.Resource":  "uri, name, short, mime-type, file, text",
}

// Element is an element of command: one text, or a group of them.
type Element struct {
	Text  string
	Group []string
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (e *Element) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.SequenceNode {
		return node.Decode(&e.Group)
	}
	return node.Decode(&e.Text)
}
