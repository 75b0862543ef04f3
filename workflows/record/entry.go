package record

import (
	"strings"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/wording"
)

// Kind is the kind of an entry.
type Kind int

// The kinds.
const (
	KindMessage  Kind = iota + 1 // of the user; starts a turn
	KindText                     // of the agent
	KindCall                     // of a tool or another agent
	KindResult                   // result of a call
	KindRequest                  // for an approval
	KindDecision                 // about an approval
	KindNotice                   // for people; the model does not need it
)

// Notice reports whether entries of the kind are for people only.
func (k Kind) Notice() bool { return k == KindRequest || k == KindDecision || k == KindNotice }

// Entry is a message of a conversation with its coordinates.
type Entry struct {
	contract.Message
	// Seq is the entry's number, from 1.
	Seq int
	// Turn is the number of the user's message that it belongs to; 0 is before the first.
	Turn int
	Kind Kind
	// Text is the text without the preface of a user's message, and without the name of the
	// node.
	Text string
	// Answers is the Seq of the call that a result belongs to, or 0.
	Answers int
	// Missing marks a generated result of a call that has none although its turn has ended, for
	// readers that need a result for every call. There is no such message.
	Missing bool

	sum uint64
}

// Shortened reports whether an entry says that the model does not see the oldest messages any more.
func (e Entry) Shortened() bool { return e.Kind == KindNotice && wording.IsSummaryNotice(e.Text) }

// CutOff reports whether an entry says that the text before it reached the model's limit.
func (e Entry) CutOff() bool { return e.Kind == KindNotice && wording.IsCutOff(e.Text) }

// ModelFailed reports whether an entry ends the turn of an agent that is one node with the failure of its model.
func (e Entry) ModelFailed() bool {
	return e.Kind == KindText && e.Outcome == contract.OutcomeFailed && wording.IsModelFailure(e.Text)
}

// OfClientTool reports whether an entry is the decision that brings the result of a call of the client, or gives it up.
func (e Entry) OfClientTool() bool {
	return e.Kind == KindDecision && wording.IsClientToolMarker(e.Text)
}

// Source is a conversation at one moment.
type Source struct {
	// Messages are all messages of the conversation, oldest first, with their values
	// (transcript.Load, then transcript.Resolve of each).
	Messages []contract.Message
	// Tree is set if nodes of a tree wrote the messages.
	Tree bool
	// Over is set if the last turn has ended.
	Over bool
}

// Read converts a conversation to entries. The prompt, a system message, is not an entry.
func Read(s Source) []Entry {
	r := reader{inTree: s.Tree, entries: make([]Entry, 0, len(s.Messages)), calls: map[string]int{}}
	for _, m := range s.Messages {
		r.read(m)
	}
	if s.Over {
		r.endTurn()
	}
	return r.entries
}

type reader struct {
	inTree  bool
	entries []Entry
	turn    int
	calls   map[string]int // Seq by the message's ID
	open    []int          // Seq of calls of the turn that have no result yet, oldest first
}

func (r *reader) read(m contract.Message) {
	if m.Notice {
		m.ApprovalID = approvalOf(m)
	}
	e := Entry{Message: m, Kind: kindOf(m)}
	switch e.Kind {
	case 0:
		return
	case KindMessage:
		r.endTurn()
		r.turn++
	case KindResult:
		e.Answers = r.callOf(m)
		r.close(e.Answers)
	}
	if e.Text = r.textOf(e); e.Kind == KindText {
		e.Outcome = outcomeOf(e)
	}
	seq := r.add(e)
	if e.Kind == KindCall {
		r.open = append(r.open, seq)
		if m.ID != "" {
			r.calls[m.ID] = seq
		}
	}
}

// add appends an entry and returns its Seq.
func (r *reader) add(e Entry) int {
	e.Seq, e.Turn = len(r.entries)+1, r.turn
	e.sum = hashOf(e)
	r.entries = append(r.entries, e)
	return e.Seq
}

// endTurn adds the missing results of calls.
func (r *reader) endTurn() {
	for _, seq := range r.open {
		call := r.entries[seq-1]
		r.add(Entry{Kind: KindResult, Answers: seq, Missing: true, Message: contract.Message{
			ID: call.ID + "-result", Role: contract.RoleTool, Node: call.Node, Reply: call.Reply, CreatedAt: r.entries[len(r.entries)-1].CreatedAt,
			ToolCall: &contract.ToolCall{ID: call.ToolCall.ID, Name: call.ToolCall.Name, IsError: true},
		}})
	}
	r.open = nil
}

// kindOf returns the kind of a message, zero if it is not an entry.
func kindOf(m contract.Message) Kind {
	switch {
	case m.Approval != nil:
		return KindDecision
	case m.Notice && m.ApprovalID != "":
		return KindRequest
	case m.Notice:
		return KindNotice
	case m.Role == contract.RoleUser:
		return KindMessage
	case m.Role == contract.RoleAssistant && m.ToolCall != nil:
		return KindCall
	case m.Role == contract.RoleAssistant:
		return KindText
	case m.Role == contract.RoleTool && m.ToolCall != nil:
		return KindResult
	}
	return 0
}

// callOf returns the Seq of the call whose result a message is.
func (r *reader) callOf(m contract.Message) int {
	if m.ResultOf != "" {
		return r.calls[m.ResultOf]
	}
	return r.likeliestCall(m)
}

func (r *reader) close(call int) {
	for i, seq := range r.open {
		if seq == call {
			r.open = append(r.open[:i:i], r.open[i+1:]...)
			return
		}
	}
}

// textOf returns the text of an entry. The name of a node at the beginning of its outputs is
// removed.
func (r *reader) textOf(e Entry) string {
	text := e.Content.Inline
	switch {
	case e.Kind == KindMessage:
		return text[max(0, min(e.Preface, len(text))):]
	case r.inTree && e.Node != "" && e.Reply == "":
		return strings.TrimPrefix(text, "["+e.Node+"] ")
	}
	return text
}
