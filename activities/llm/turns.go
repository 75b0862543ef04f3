package llm

import (
	"encoding/json"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
)

// Turn is one turn of a conversation for providers: a user's text, or one reply of the model
// with the results of all its calls.
type Turn struct {
	Role  contract.Role // RoleUser or RoleAssistant
	Text  string        // may be empty if there are Calls or Media
	Media []Media       // RoleUser only: files that the model is shown
	Calls []PastCall    // RoleAssistant only
	// Native is the whole turn without the results, in the form of its provider. Others ignore
	// it.
	Native *Native
}

// PastCall is a call that a model made, with its result.
type PastCall struct {
	ID, Name  string
	Arguments json.RawMessage // always a JSON object
	Result    string
	IsError   bool
	// Media are the files of the result that the model is shown.
	Media []Media
	// NotRun is set if no result was recorded; Result says so to the model.
	NotRun bool
}

// The results of calls that did not run, for the model.
const (
	NotRun   = "Not run."
	Rejected = "Not run: the user rejected this call." // followed by the reason, if one was given
)

// BuildTurns selects from a recorded conversation what a model needs to see.
//
// System messages and notices are omitted. The messages of one reply become one turn, and every
// call has a result, whatever was recorded in between and in whatever order. A result without a
// known call becomes a user's text; adjacent texts of one role are joined.
//
// The keys of media are message IDs. Media of a result without a known call are omitted.
func BuildTurns(messages []contract.Message, media map[string][]Media) []Turn {
	x := turnBuilder{media: media, calls: map[int]callPlace{}, places: map[string]callPlace{}}
	for _, e := range record.Read(record.Source{Messages: messages}) {
		if !e.Missing {
			x.addEntry(e)
		}
	}
	return x.finish()
}

// turnBuilder builds turns from entries.
type turnBuilder struct {
	turns []*turn
	media map[string][]Media
	calls map[int]callPlace // by their Seq in the record

	places map[string]callPlace // by the ID of the call's message
}

// callPlace is the position of a call.
type callPlace struct {
	turn  *turn
	index int
}

type turn struct {
	Turn
	reply    string
	answered []bool
	changed  map[int]string // what people changed about calls
	rejected *contract.ApprovalResult
	closed   bool // a user's text follows: nothing is added to this turn any more
}

func (x *turnBuilder) addEntry(e record.Entry) {
	m := e.Message
	if m.Approval != nil && m.Approval.Decision == contract.Rejected {
		x.reject(m.Approval)
	}
	if m.Approval != nil && m.Approval.Revision != nil {
		x.change(*m.Approval)
	}
	if m.Notice || m.Role == contract.RoleSystem {
		return
	}
	switch m.Role {
	case contract.RoleUser:
		x.addUser(m)
	case contract.RoleTool:
		x.addResult(e)
	case contract.RoleAssistant:
		x.addAssistant(e)
	}
}

// reject marks all calls since the user's last text as rejected.
func (x *turnBuilder) reject(r *contract.ApprovalResult) {
	for _, t := range x.turns {
		if !t.closed {
			t.rejected = r
		}
	}
}

func (x *turnBuilder) addUser(m contract.Message) {
	text := m.Content.Short()
	media := x.media[m.ID]
	if text == "" && len(media) == 0 {
		return
	}
	if m.Approval == nil {
		for _, t := range x.turns {
			t.closed = true
		}
	}
	x.turns = append(x.turns, &turn{Turn: Turn{Role: contract.RoleUser, Text: text, Media: media}})
}

func (x *turnBuilder) addAssistant(e record.Entry) {
	m := e.Message
	text := m.Content.Short()
	if text == "" && m.ToolCall == nil {
		return
	}
	t := x.openTurn(m.Reply)
	t.Text = Join(t.Text, text)
	if m.Native != nil {
		t.Native = &Native{Provider: m.Native.Provider, Model: m.Native.Model, Content: m.Native.Content.Raw}
	}
	if m.ToolCall != nil {
		x.calls[e.Seq] = callPlace{t, len(t.Calls)}
		x.places[m.ID] = x.calls[e.Seq]
		t.call(*m.ToolCall)
	}
}

// openTurn finds the turn of a reply, or starts it.
func (x *turnBuilder) openTurn(reply string) *turn {
	for i := len(x.turns) - 1; i >= 0 && reply != ""; i-- {
		if t := x.turns[i]; t.reply == reply && !t.closed {
			return t
		}
	}
	t := &turn{Turn: Turn{Role: contract.RoleAssistant}, reply: reply}
	x.turns = append(x.turns, t)
	return t
}
