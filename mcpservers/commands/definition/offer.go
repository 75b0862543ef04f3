package definition

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Prompt is a prompt for clients. In its messages {name} is replaced by an argument.
type Prompt struct {
	Name      string      `yaml:"name"`
	Short     string      `yaml:"short"`
	Long      string      `yaml:"long"`
	Flags     []Parameter `yaml:"flags"`
	Arguments []Parameter `yaml:"arguments"`
	Messages  []Message   `yaml:"messages"`
}

// Message is one message of a prompt. Its role is user or assistant; default user.
type Message struct {
	Role string `yaml:"role"`
	Text string `yaml:"text"`
}

// Parameters are all arguments. The protocol only has texts for prompts.
func (p *Prompt) Parameters() Parameters {
	return append(append(Parameters{}, p.Flags...), p.Arguments...)
}

func (p *Prompt) check() error {
	var errs []error
	if !toolName.MatchString(p.Name) {
		errs = append(errs, fmt.Errorf("name %q: use 1 to 64 letters, digits, dots, _ or -", p.Name))
	}
	errs = append(errs, p.Parameters().check()...)
	if len(p.Messages) == 0 {
		errs = append(errs, errors.New("messages is empty"))
	}
	for i := range p.Messages {
		m := &p.Messages[i]
		if m.Role == "" {
			m.Role = "user"
		}
		if m.Role != "user" && m.Role != "assistant" {
			errs = append(errs, fmt.Errorf("messages[%d]: role %q: use user or assistant", i, m.Role))
		}
		for _, name := range references.FindAllStringSubmatch(m.Text, -1) {
			if p.Parameters().Get(name[1]) == nil {
				errs = append(errs, fmt.Errorf("messages[%d]: there is no argument %s", i, name[1]))
			}
		}
	}
	return errors.Join(errs...)
}

// Fill returns the messages for the arguments of a client. A value is inserted as it is and not
// searched for further names.
func (p *Prompt) Fill(args map[string]string) ([]Message, error) {
	filled := map[string]string{}
	parameters := p.Parameters()
	for i := range parameters {
		q := &parameters[i]
		value, given := args[q.Name]
		switch {
		case !given && q.Default != nil:
			value = fmt.Sprint(q.Default)
		case !given && q.Required:
			return nil, fmt.Errorf("missing required argument: %s", q.Name)
		}
		filled[q.Name] = value
	}
	for name := range args {
		if parameters.Get(name) == nil {
			return nil, fmt.Errorf("unknown argument %q, allowed: %s", name, strings.Join(parameters.Offered(), ", "))
		}
	}
	var messages []Message
	for _, m := range p.Messages {
		m.Text = references.ReplaceAllStringFunc(m.Text, func(name string) string { return filled[name[1:len(name)-1]] })
		messages = append(messages, m)
	}
	return messages, nil
}

// Resource is a text or file for clients.
type Resource struct {
	URI      string `yaml:"uri"`
	Name     string `yaml:"name"`
	Short    string `yaml:"short"`
	MIMEType string `yaml:"mime-type"`
	File     string `yaml:"file"` // relative to the definition
	Text     string `yaml:"text"`
}

// MaxResource bounds the file of a resource.
const MaxResource = 1 << 20

func (r *Resource) check(folder string) error {
	var errs []error
	if u, err := url.Parse(r.URI); err != nil || u.Scheme == "" {
		errs = append(errs, fmt.Errorf("uri %q must have a scheme, such as notes:today", r.URI))
	}
	if r.Name == "" {
		errs = append(errs, errors.New("name is required"))
	}
	if (r.File == "") == (r.Text == "") {
		errs = append(errs, errors.New("either file or text must be specified"))
	}
	if r.File != "" {
		if !filepath.IsAbs(r.File) {
			r.File = filepath.Join(folder, r.File)
		}
		if info, err := os.Stat(r.File); err != nil {
			errs = append(errs, fmt.Errorf("file: %w", err))
		} else if !info.Mode().IsRegular() {
			errs = append(errs, fmt.Errorf("file: %s is not a regular file", r.File))
		}
	}
	return errors.Join(errs...)
}
