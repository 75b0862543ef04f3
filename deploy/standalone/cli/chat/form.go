package chat

import (
	"encoding/json"
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"

	"agent-stop-and-go/deploy/standalone/cli/screen"
	"agent-stop-and-go/gateway/client"
	"agent-stop-and-go/workflows/answer"
)

// form asks for the fields of an approval, one after the other.
type form struct {
	shown  *huh.Form
	schema json.RawMessage
	fields []answer.Field
	texts  []string   // what was typed, by field
	many   [][]string // of fields with several entries
}

// newForm returns the form of an approval, nil if its schema has no fields.
func newForm(a client.Approval, width, height int) *form {
	fields := answer.Fields(a.Schema)
	if !a.NeedsContent() || len(fields) == 0 {
		return nil
	}
	f := &form{schema: a.Schema, fields: fields, texts: make([]string, len(fields)), many: make([][]string, len(fields))}
	var groups []*huh.Group
	for i := range fields {
		groups = append(groups, huh.NewGroup(f.control(i)))
	}
	f.shown = huh.NewForm(groups...).WithTheme(huh.ThemeFunc(huh.ThemeBase)).WithShowHelp(false)
	f.resize(width, height)
	return f
}

// resize leaves room for what is above the form.
func (f *form) resize(width, height int) {
	f.shown = f.shown.WithWidth(width).WithHeight(max(4, min(12, height/2)))
}

// control returns what field i is filled in with.
func (f *form) control(i int) huh.Field {
	one := f.fields[i]
	if screen.Exact(one.Default) == one.Default { // what cannot be seen is not sent
		f.texts[i] = one.Default
	}
	title, hint := titleOf(one), screen.Line(one.Description, 200)
	switch {
	case one.Many && len(one.Choices) > 0:
		return huh.NewMultiSelect[string]().Title(title).Description(hint).Options(options(one.Choices)...).Value(&f.many[i]).
			Validate(func(texts []string) error { return problem(one.Read(texts...)) })
	case len(one.Choices) > 0:
		choices := slices.Clone(one.Choices)
		if !one.Required {
			choices = append([]answer.Choice{{Label: "No answer"}}, choices...)
		}
		return huh.NewSelect[string]().Title(title).Description(hint).Options(options(choices)...).Value(&f.texts[i])
	}
	check := func(text string) error { return problem(one.Read(text)) }
	if one.Long {
		return huh.NewText().Title(title).Description(hint).Lines(2).ExternalEditor(false).Value(&f.texts[i]).Validate(check)
	}
	return huh.NewInput().Title(title).Description(hint).Value(&f.texts[i]).Validate(check)
}

func titleOf(f answer.Field) string {
	title := screen.Line(screen.Exact(f.Title), 100)
	if title == "" {
		title = screen.Line(screen.Exact(f.Name), 100)
	}
	if f.Required {
		return title + " (required)"
	}
	return title
}

func options(choices []answer.Choice) (out []huh.Option[string]) {
	for _, c := range choices {
		out = append(out, huh.NewOption(screen.Line(screen.Exact(c.Label), 100), c.Text))
	}
	return out
}

// problem returns what is wrong with a value, without characters that control a terminal.
func problem(_ json.RawMessage, err error) error {
	if err == nil {
		return nil
	}
	return errors.New(screen.Line(err.Error(), 200))
}

// content returns the answer of a form that is filled in.
func (f *form) content() (json.RawMessage, error) {
	values := map[string]json.RawMessage{}
	for i, one := range f.fields {
		texts := []string{f.texts[i]}
		if one.Many && len(one.Choices) > 0 {
			texts = f.many[i]
		}
		value, err := one.Read(texts...)
		if err != nil {
			return nil, err
		}
		values[one.Name] = value
	}
	return answer.Filled(f.schema, values)
}

// fill gives a message to the form that is open, and sends the answer when it is complete.
func (m *Model) fill(msg tea.Msg) tea.Cmd {
	f := m.approvals.form
	next, cmd := f.shown.Update(msg)
	if shown, ok := next.(*huh.Form); ok {
		f.shown = shown
	}
	if f.shown.State != huh.StateCompleted {
		return cmd
	}
	content, err := f.content()
	if err != nil { // the fields fit, the whole does not
		m.fail(err)
		return m.openForm()
	}
	return m.decide(client.Answer{Content: content})
}

// openForm shows the form of the first approval, if it has one.
func (m *Model) openForm() tea.Cmd {
	if m.approvals.form = newForm(m.approvals.waiting[0], m.width, m.height); m.approvals.form == nil {
		return nil
	}
	return m.approvals.form.shown.Init()
}
