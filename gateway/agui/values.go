package agui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deputy"
	"agent-stop-and-go/workflows/contract/edit"
	"agent-stop-and-go/workflows/contract/generation"
	"agent-stop-and-go/workflows/record"
)

// Notice is a text for people. Models do not get it.
type Notice struct {
	ID   string    `json:"id"`
	Text string    `json:"text"`
	Node string    `json:"node,omitempty"`
	At   time.Time `json:"at"`
	// UUID is that of the approval that the notice is about, if it is about one.
	UUID string `json:"uuid,omitempty"`
}

// Attempt says that a model has not answered and is asked again. Unlike a Notice it has no
// entry in the record, and is sent only when it happens.
type Attempt struct {
	Text    string    `json:"text"`
	Node    string    `json:"node,omitempty"`
	Model   string    `json:"model,omitempty"`
	Attempt int       `json:"attempt"`
	Until   time.Time `json:"until,omitzero"` // when the model is given up
}

func attempt(d generation.Draft) Custom {
	return Custom{TypeCustom, CustomAttempt, Attempt{
		Text: askedAgain(d), Node: d.Node, Model: d.Model, Attempt: d.Attempt, Until: d.Until,
	}}
}

func askedAgain(d generation.Draft) string {
	model := "The model"
	if d.Model != "" {
		model += " " + d.Model
	}
	text := fmt.Sprintf("%s has not answered and is asked again (attempt %d).", model, d.Attempt)
	if !d.Until.IsZero() {
		text += fmt.Sprintf(" It is given up at %s.", d.Until.UTC().Format(time.TimeOnly+" MST"))
	}
	return text
}

// Decision is a Notice about the end of an approval.
type Decision struct {
	Notice
	Tool       string              `json:"tool"`
	Decision   contract.Decision   `json:"decision"`
	By         string              `json:"by,omitempty"`
	OnBehalfOf string              `json:"on_behalf_of,omitempty"`
	Identity   contract.Identity   `json:"identity,omitzero"`
	Reason     string              `json:"reason,omitempty"`
	Via        string              `json:"via,omitempty"`
	RequestID  string              `json:"request_id,omitempty"`
	Outcome    contract.RunOutcome `json:"outcome,omitempty"`
	DecidedAt  time.Time           `json:"decided_at"`
	// For is by which deputy, and so in whose place, it was decided.
	For *deputy.Deputy `json:"for,omitempty"`
	// Revision says what was changed, if the call was approved with changes.
	Revision *Revision `json:"revision,omitempty"`
}

// Revision has the changes of a record's revision; the arguments are in the record.
type Revision struct {
	Changes []edit.Change `json:"changes"`
}

func notice(e record.Entry) Custom {
	n := Notice{ID: e.ID, Text: e.Text, Node: e.Node, At: e.CreatedAt, UUID: e.ApprovalID}
	a := e.Approval
	if a == nil {
		return Custom{TypeCustom, CustomNotice, n}
	}
	n.UUID = a.UUID
	var changed *Revision
	if r := a.Revision; r != nil && len(r.Changes) > 0 {
		changed = &Revision{r.Changes}
	}
	return Custom{TypeCustom, CustomDecision, Decision{
		Notice: n, Tool: a.Tool, Decision: a.Decision, By: a.By, OnBehalfOf: a.OnBehalfOf, Identity: a.Identity,
		Reason: a.Reason, Via: a.Via, RequestID: a.RequestID, Outcome: a.Outcome, DecidedAt: a.DecidedAt,
		For: a.For, Revision: changed,
	}}
}

// resultMeta is the metadata of a result.
type resultMeta struct {
	IsError bool `json:"isError,omitempty"`
	// Missing marks a result that stands for none: the call was not carried out, or what came of
	// it was not known when the turn ended.
	Missing bool    `json:"missing,omitempty"`
	Note    string  `json:"note,omitempty"`
	Media   []media `json:"media,omitempty"`
}

// media describes a binary part of a result. The gateway serves its bytes by the SHA-256.
type media struct {
	MIMEType string `json:"mimeType"`
	Size     int64  `json:"size"`
	SHA256   string `json:"sha256"`
	Name     string `json:"name,omitempty"`
}

func resultMetadata(e record.Entry) Metadata {
	c := *e.ToolCall
	m := resultMeta{IsError: c.IsError, Missing: e.Missing, Note: c.Note}
	for _, f := range c.Media {
		m.Media = append(m.Media, media{MIMEType: f.MIMEType, Size: f.Size, SHA256: f.SHA256, Name: f.Name})
	}
	if !m.IsError && m.Note == "" && len(m.Media) == 0 {
		return nil
	}
	return Metadata{Namespace: m}
}

// sameJSON reports whether two texts are equal, or encode the same value.
func sameJSON(a, b string) bool {
	if a == b {
		return true
	}
	x, ok := decoded(a)
	y, ok2 := decoded(b)
	return ok && ok2 && reflect.DeepEqual(x, y)
}

func decoded(s string) (v any, ok bool) {
	dec := json.NewDecoder(bytes.NewReader([]byte(s)))
	dec.UseNumber()
	if dec.Decode(&v) != nil || dec.More() {
		return nil, false
	}
	return v, true
}
