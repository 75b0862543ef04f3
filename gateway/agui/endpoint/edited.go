package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/edit"
)

// edited returns the changes in editedArgs, nil for none: the arguments of a call as somebody wants them.
// A member that is left out stays as it was shown. Only what the approval lets be changed may differ.
func edited(args json.RawMessage, p contract.PendingApproval) (json.RawMessage, error) {
	if len(args) == 0 || string(args) == "null" {
		return nil, nil
	}
	if _, err := edit.Parse(args); err != nil { // also of a member that is there twice
		return nil, errors.New(strings.Replace(err.Error(), "edit: ", "editedArgs: ", 1))
	}
	changes := map[string]json.RawMessage{}
	if !collect(changes, args, p.ToolArgs.Raw, "", p.Edit) {
		return nil, errors.New("editedArgs: must be an object")
	}
	if len(changes) == 0 {
		return nil, nil
	}
	raw, err := json.Marshal(changes)
	if err != nil {
		return nil, err
	}
	if err := edit.Check(raw, p.Edit); err != nil {
		return nil, err
	}
	return edit.Canonical(raw), nil
}

// collect adds what differs in an object, under its name or path. It looks into an object only if a part
// of that may be changed, and not the whole. It reports whether both are objects.
func collect(changes map[string]json.RawMessage, now, shown json.RawMessage, prefix string, allowed []string) bool {
	var is, was map[string]json.RawMessage
	if json.Unmarshal(now, &is) != nil || json.Unmarshal(orObject(shown), &was) != nil || is == nil || was == nil {
		return false
	}
	for key, value := range is {
		name := prefix + key
		if bytes.Equal(service.CanonicalJSON(value), service.CanonicalJSON(was[key])) && was[key] != nil {
			continue
		}
		inside := func(a string) bool { return strings.HasPrefix(a, name+".") }
		if !slices.Contains(allowed, name) && slices.ContainsFunc(allowed, inside) && was[key] != nil && collect(changes, value, was[key], name+".", allowed) {
			continue
		}
		changes[name] = value
	}
	return true
}

func orObject(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

// refused says of changes which the tool's schema or a rule refuses that the answer is invalid. The
// approval waits on.
func (d decision) refused(err error) error {
	var known *service.Error
	if len(d.in.Edit) == 0 || !errors.As(err, &known) {
		return err
	}
	if known.Kind == contract.KindInvalid || known.Kind == contract.KindForbidden && strings.HasPrefix(known.Text, "edit: ") {
		return service.Errorf(KindResumeInvalid, "interrupt %s: %s", d.uuid, known.Text)
	}
	return err
}
