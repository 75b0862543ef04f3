package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	reference  = regexp.MustCompile(`^\{([A-Za-z][A-Za-z0-9_-]*)\}$`)
	references = regexp.MustCompile(`\{([A-Za-z][A-Za-z0-9_-]*)\}`)
)

// reference returns the argument that a text stands for. A text that contains one among other text is
// an error; braces around other names are literal.
func (t *Tool) reference(element string) (name string, is bool, err error) {
	if m := reference.FindStringSubmatch(element); m != nil {
		if t.Parameters.Get(m[1]) == nil {
			return "", false, fmt.Errorf("there is no argument %s", m[1])
		}
		return m[1], true, nil
	}
	for _, m := range references.FindAllStringSubmatch(element, -1) {
		if t.Parameters.Get(m[1]) != nil {
			return "", false, fmt.Errorf("%q: an element is a literal or exactly one {argument}: join texts in a shell-script", element)
		}
	}
	return "", false, nil
}

// checkCommand reports all faults of command.
func (t *Tool) checkCommand() (errs []error) {
	first := t.Command[0]
	if first.Group != nil || first.Text == "" || references.MatchString(first.Text) {
		return []error{errors.New("the program, which is the first element, must be a literal")}
	}
	if strings.Contains(first.Text, "/") && !filepath.IsAbs(first.Text) {
		errs = append(errs, fmt.Errorf("the program %q must be an absolute path, or a name that is found in the server's path", first.Text))
	}
	for _, e := range t.Command[1:] {
		group := e.Group
		if group == nil {
			group = []string{e.Text}
		}
		arguments := 0
		for _, text := range group {
			name, is, err := t.reference(text)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			if !is {
				continue
			}
			arguments++
			if p := t.Parameters.Get(name); e.Group == nil && !p.hasValue() {
				errs = append(errs, fmt.Errorf("the argument %s may be absent: make it required, give it a default, or put the element into a list of its own, such as [--%s, \"{%s}\"]", name, name, name))
			}
		}
		if e.Group != nil && arguments != 1 {
			errs = append(errs, fmt.Errorf("the group %q must have exactly one argument: it is left out when that is absent", e.Group))
		}
	}
	if len(errs) > 0 {
		return errs
	}
	return t.checkCode()
}

// Argv returns the elements after the program for the values of a call.
func (t *Tool) Argv(values Values) ([]string, error) {
	argv := []string{}
	guarded, guard := false, t.guard()
	for i, e := range t.Command[1:] {
		guarded = guarded || i+1 == guard
		if e.Group != nil {
			group, err := t.group(e.Group, values, guarded)
			if err != nil {
				return nil, err
			}
			argv = append(argv, group...)
			continue
		}
		name, is, _ := t.reference(e.Text)
		if !is {
			argv = append(argv, e.Text)
			continue
		}
		for _, text := range values[name].Texts {
			if err := refuseOption(name, text, guarded); err != nil {
				return nil, err
			}
			argv = append(argv, text)
		}
	}
	return argv, nil
}

// group returns the elements of a group, none if its argument is absent, empty or false. A group
// with a list is repeated for each of its values.
func (t *Tool) group(group []string, values Values, guarded bool) (argv []string, err error) {
	at := slices.IndexFunc(group, reference.MatchString)
	name := group[at][1 : len(group[at])-1]
	p := t.Parameters.Get(name)
	for _, text := range values[name].Texts {
		switch {
		case p.IsBool() && text == "false", text == "" && !p.IsList():
			continue
		case p.IsBool():
			argv = append(argv, group[:at]...)
		default:
			if err := refuseOption(name, text, guarded); err != nil {
				return nil, err
			}
			argv = append(append(argv, group[:at]...), text)
		}
		argv = append(argv, group[at+1:]...)
	}
	return argv, nil
}

func refuseOption(name, text string, guarded bool) error {
	if strings.HasPrefix(text, "-") && !guarded {
		return fmt.Errorf("%s must not begin with \"-\": the program would take it as an option", name)
	}
	return nil
}

// Variable is the name of an argument's variable in a script.
func Variable(argument string) string {
	return "ARG_" + strings.ToUpper(strings.ReplaceAll(argument, "-", "_"))
}

// Variables returns the environment that the definition gives to the command, sorted: its own
// variables, those of the server that it lets through, and for a script the arguments.
func (t *Tool) Variables(values Values, getenv func(string) string) ([]string, error) {
	env := map[string]string{}
	for _, name := range t.PassEnvironment {
		env[name] = getenv(name)
	}
	for name, value := range t.Environment {
		if argument, is, _ := t.reference(value); is {
			value = strings.Join(values[argument].Texts, "")
		}
		env[name] = value
	}
	if t.Script != "" {
		for i := range t.Parameters {
			if err := t.scriptVariables(env, &t.Parameters[i], values); err != nil {
				return nil, err
			}
		}
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list, nil
}

func (t *Tool) scriptVariables(env map[string]string, p *Parameter, values Values) error {
	variable, value := Variable(p.Name), values[p.Name]
	for _, text := range value.Texts {
		if err := refuseOption(p.Name, text, p.AllowDash || t.constrained(p.Name)); err != nil {
			return err
		}
	}
	if p.IsList() {
		env[variable+"_COUNT"] = fmt.Sprint(len(value.Texts))
		for i, text := range value.Texts {
			env[fmt.Sprintf("%s_%d", variable, i)] = text
		}
	} else {
		env[variable] = strings.Join(value.Texts, "")
	}
	if !strings.Contains(t.Script, variable+"_JSON") {
		return nil
	}
	var encoded strings.Builder
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value.Raw); err != nil {
		return fmt.Errorf("encode %s: %w", p.Name, err)
	}
	env[variable+"_JSON"] = strings.TrimSpace(encoded.String())
	return nil
}

// CheckSize refuses strings that the system would not pass to a program.
func CheckSize(argv, env []string) error {
	total := 0
	for _, s := range slices.Concat(argv, env) {
		if len(s) > 128<<10-1 {
			return fmt.Errorf("a value is too long: %d bytes, at most %d are allowed", len(s), maxValue)
		}
		total += len(s) + 9 // its zero byte and its pointer
	}
	if total > maxTotal {
		return fmt.Errorf("the values are too long together: %d bytes, at most %d are allowed", total, maxTotal)
	}
	return nil
}
