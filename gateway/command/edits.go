package command

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/edit"
)

// assignment is how a change of an argument begins: a name, or a path into objects.
var assignment = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_.-]*)=`)

// set is a change as somebody has written it: JSON, or else a word whose type the tool's schema says.
type set struct {
	name, word string
	json       json.RawMessage
}

// cutSets takes the changes, NAME=VALUE, from the beginning of a text. The rest is a reason.
func cutSets(text string) (sets []set, rest string, err error) {
	for rest = text; ; {
		m := assignment.FindStringSubmatch(rest)
		if m == nil {
			return sets, rest, nil
		}
		s := set{name: m[1]}
		if rest, err = s.read(rest[len(m[0]):]); err != nil {
			return nil, "", err
		}
		sets = append(sets, s)
	}
}

// read reads a value, and returns what follows it. JSON may have spaces; chat clients type quotation marks
// of their own.
func (s *set) read(text string) (rest string, err error) {
	if quoted, ok := strings.CutPrefix(text, "“"); ok {
		inner, behind, closed := strings.Cut(quoted, "”")
		if s.json, err = json.Marshal(inner); err != nil || !closed {
			return "", s.problem("the quotation mark “ is not closed")
		}
		return s.end(behind)
	}
	if !strings.HasPrefix(text, `"`) && !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		s.word, rest = cutWord(text)
		return rest, nil
	}
	dec := json.NewDecoder(strings.NewReader(text))
	if err := dec.Decode(&s.json); err != nil {
		return "", s.problem("the value begins like JSON and is none: %v", err)
	}
	return s.end(text[dec.InputOffset():])
}

// end returns what follows a value, from which a space separates it.
func (s *set) end(text string) (string, error) {
	if rest := strings.TrimSpace(text); rest == "" || rest != text {
		return rest, nil
	}
	return "", s.problem("there is no space behind its value")
}

func (s *set) problem(format string, args ...any) error {
	return service.Errorf(contract.KindInvalid, "%s: %s. Nothing is decided", service.Printable(s.name), fmt.Sprintf(format, args...))
}

// changes returns the changes of a call that the text behind !approve begins with, nil for none, and the
// reason. What the approval does not let be changed is refused here already, so that the person reads why.
func (r run) changes(ctx context.Context, uuid, text string) (raw json.RawMessage, reason string, err error) {
	sets, reason, err := cutSets(text)
	if err != nil || len(sets) == 0 && !strings.Contains(reason, "=") {
		return nil, reason, err
	}
	view, err := r.service.Approval(ctx, uuid)
	if err != nil || view.Result != nil { // deciding says who has decided
		return nil, reason, err
	}
	for word := range strings.FieldsSeq(reason) {
		for _, name := range view.Pending.Edit {
			if strings.HasPrefix(word, name+"=") {
				return nil, "", service.Errorf(contract.KindInvalid, "write %s before the reason; nothing is decided", service.Printable(word))
			}
		}
	}
	if len(sets) == 0 {
		return nil, reason, nil
	}
	pending, err := r.service.Pending(ctx, view.Pending)
	if err != nil {
		return nil, "", err
	}
	values, typed := map[string]json.RawMessage{}, r.typesOf(ctx, pending)
	for _, s := range sets {
		if _, twice := values[s.name]; twice {
			return nil, "", s.problem("it is there twice")
		}
		if values[s.name] = s.json; s.json == nil {
			if values[s.name], err = typed.value(s); err != nil {
				return nil, "", err
			}
		}
	}
	if raw, err = json.Marshal(values); err != nil {
		return nil, "", err
	}
	if err := edit.Check(raw, pending.Edit); err != nil {
		return nil, "", service.Errorf(contract.KindInvalid, "%s. Nothing is decided, and it still waits", err.Error())
	}
	return raw, reason, nil
}

// withChanges says which changes a decision was made with; their values only where they may be shown.
func (r run) withChanges(record contract.ApprovalResult) string {
	if record.Revision == nil || len(record.Revision.Changes) == 0 {
		return ""
	}
	var all []string
	for _, c := range record.Revision.Changes {
		text := c.Name
		if !r.in.Brief {
			text += " = " + c.After
		}
		all = append(all, text)
	}
	return " with " + strings.Join(all, ", ")
}
