package client

import (
	"cmp"
	"encoding/json"
	"slices"

	"agent-stop-and-go/gateway/agui"
)

// Kind is what an Entry is.
type Kind string

// The kinds of entries.
const (
	KindUser    Kind = "user"
	KindText    Kind = "text"    // of the agent
	KindThought Kind = "thought" // of the model
	KindCall    Kind = "call"
	KindNotice  Kind = "notice" // for people, such as a decision
)

// Entry is a part of a conversation as a reader sees it.
type Entry struct {
	Kind Kind
	ID   string
	// Node is the node of the agent's tree that wrote it, if there is a tree.
	Node string
	// Text is the text, or the arguments of a call.
	Text string
	// Done means that it is complete, unless the agent corrects it.
	Done bool
	// Tool and Result belong to a call. Result is nil until it has returned.
	Tool    string
	Result  *string
	IsError bool
}

// Transcript is what a reader of events holds. The zero value holds nothing.
type Transcript struct {
	// ConversationID and Position are where the reader is: Client.Rest and Client.Follow
	// continue there.
	ConversationID, Position string
	Entries                  []Entry
}

// Add changes the transcript by an event. It reports whether an entry changed.
func (t *Transcript) Add(e Event) bool {
	t.ConversationID, t.Position = cmp.Or(e.ThreadID, t.ConversationID), cmp.Or(e.ID, t.Position)
	switch e.Type {
	case agui.TypeTextStart:
		kind := KindText
		if e.Role == agui.RoleUser {
			kind = KindUser
		}
		t.begin(Entry{Kind: kind, ID: e.MessageID, Node: e.Name})
	case agui.TypeThoughtStart:
		t.begin(Entry{Kind: KindThought, ID: e.MessageID})
	case agui.TypeCallStart:
		t.begin(Entry{Kind: KindCall, ID: e.ToolCallID, Tool: e.ToolCallName})
	case agui.TypeTextEnd:
		return t.end(e.MessageID, KindUser, KindText)
	case agui.TypeThoughtEnd:
		return t.end(e.MessageID, KindThought)
	case agui.TypeTextContent:
		return t.append(e.MessageID, e.Text(), KindUser, KindText)
	case agui.TypeThoughtContent:
		return t.append(e.MessageID, e.Text(), KindThought)
	case agui.TypeCallArgs:
		return t.append(e.ToolCallID, e.Text(), KindCall)
	case agui.TypeCallResult:
		return t.result(e.ToolCallID, e.Content, e.Metadata)
	case agui.TypeMessagesSnapshot:
		t.replace(e.Messages)
	case agui.TypeCustom:
		return t.notice(e)
	default:
		return false
	}
	return true
}

// LastTurn returns the entries after the last message of a user.
func (t *Transcript) LastTurn() []Entry {
	for i, e := range slices.Backward(t.Entries) {
		if e.Kind == KindUser {
			return t.Entries[i+1:]
		}
	}
	return t.Entries
}

// begin adds an entry, or empties it if it is there.
func (t *Transcript) begin(e Entry) {
	if old := t.find(e.ID, e.Kind); old != nil {
		*old = e
		return
	}
	t.Entries = append(t.Entries, e)
}

func (t *Transcript) append(id, text string, kinds ...Kind) bool {
	e := t.find(id, kinds...)
	if e == nil {
		return false
	}
	e.Text += text
	return true
}

func (t *Transcript) end(id string, kinds ...Kind) bool {
	e := t.find(id, kinds...)
	if e == nil {
		return false
	}
	e.Done = true
	return true
}

func (t *Transcript) result(call, text string, metadata json.RawMessage) bool {
	e := t.find(call, KindCall)
	if e == nil {
		return false
	}
	e.Result, e.IsError, e.Done = &text, isError(metadata), true
	return true
}

// notice adds a sentence for people.
func (t *Transcript) notice(e Event) bool {
	var value struct {
		ID, Text, Node string
	}
	if json.Unmarshal(e.Value, &value) != nil || value.Text == "" {
		return false
	}
	t.begin(Entry{Kind: KindNotice, ID: value.ID, Node: value.Node, Text: value.Text, Done: true})
	return true
}

func (t *Transcript) find(id string, kinds ...Kind) *Entry {
	for i := range slices.Backward(t.Entries) {
		if e := &t.Entries[i]; e.ID == id && slices.Contains(kinds, e.Kind) {
			return e
		}
	}
	return nil
}

// replace replaces all messages. Notices, which snapshots do not have, stay behind the entry
// that they followed, as far as that is still there.
func (t *Transcript) replace(messages []agui.Message) {
	old := t.Entries
	t.Entries = nil
	for _, m := range messages {
		t.add(m)
	}
	for i, e := range old {
		if e.Kind == KindNotice {
			at := len(t.Entries)
			if i > 0 {
				at = t.behind(old[i-1])
			}
			t.Entries = slices.Insert(t.Entries, at, e)
		}
	}
}

func (t *Transcript) behind(e Entry) int {
	at := slices.IndexFunc(t.Entries, func(x Entry) bool { return x.ID == e.ID && x.Kind == e.Kind })
	if at < 0 {
		return len(t.Entries)
	}
	return at + 1
}

// add adds a message of a snapshot.
func (t *Transcript) add(m agui.Message) {
	text := ""
	if m.Content != nil {
		text = *m.Content
	}
	switch m.Role {
	case agui.RoleTool:
		metadata, _ := json.Marshal(m.Metadata) // it was decoded from JSON
		t.result(m.ToolCallID, text, metadata)
		return
	case agui.RoleUser:
		t.begin(Entry{Kind: KindUser, ID: m.ID, Node: m.Name, Text: text, Done: true})
	case agui.RoleReasoning:
		t.begin(Entry{Kind: KindThought, ID: m.ID, Text: text, Done: true})
	case agui.RoleAssistant:
		if text != "" {
			t.begin(Entry{Kind: KindText, ID: m.ID, Node: m.Name, Text: text, Done: true})
		}
	}
	for _, c := range m.ToolCalls {
		t.begin(Entry{Kind: KindCall, ID: c.ID, Tool: c.Function.Name, Text: c.Function.Arguments})
	}
}

// isError reports whether the metadata of a result says that the call failed.
func isError(metadata json.RawMessage) bool {
	var m map[string]struct{ IsError bool }
	return json.Unmarshal(metadata, &m) == nil && m[agui.Namespace].IsError
}
