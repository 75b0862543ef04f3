package agui

import (
	"bytes"
	"encoding/json"
	"fmt"

	"agent-stop-and-go/workflows/record"
)

// item is an entry of the record as events show it.
type item struct {
	record.Entry
	// message is the AG-UI ID; that of the parent for a call.
	message string
	call    string // the AG-UI ID of the call, or of the call of a result
	index   int    // of a call within its reply
	text    string // of a call: its arguments
	name    string // of who says it
	draft   string // the reply that it is part of
	named   bool   // a sender has given it its ID
	meta    Metadata
	notice  Custom
}

// textNoResult stands for the result of a call that will not have one.
const textNoResult = "The call has no result: it was not carried out, or the turn ended before its result was known."

// itemsOf returns the items of entries, in order.
func itemsOf(entries []record.Entry, tree bool) []item {
	r := reader{tree: tree, items: make([]item, 0, len(entries)), replies: map[[2]string]*reply{}}
	for _, e := range entries {
		r.read(e)
	}
	return r.items
}

// reader makes items of entries.
type reader struct {
	tree    bool
	items   []item
	replies map[[2]string]*reply
	calls   map[int]string // the AG-UI ID by the Seq
}

type reply struct {
	first, draft string
	calls        int
}

func (r *reader) read(e record.Entry) {
	i := item{Entry: e, message: e.ID, text: e.Text, draft: e.DraftID}
	switch e.Kind {
	case record.KindMessage:
		i.message, i.draft, i.named = idOf(e), "", e.ClientID() != ""
	case record.KindText:
		i.message = idOf(e)
		if r.tree {
			i.name = e.Node
		}
		if e.Reply != "" {
			r.replyOf(e)
		}
	case record.KindCall:
		r.readCall(&i)
	case record.KindResult:
		r.readResult(&i)
	default:
		i.text, i.notice = "", notice(e)
	}
	r.items = append(r.items, i)
}

// idOf is the AG-UI ID of a message.
func idOf(e record.Entry) string {
	if e.DraftID != "" {
		return e.DraftID
	}
	return e.ID
}

// replyOf is the reply that a message is part of.
func (r *reader) replyOf(e record.Entry) *reply {
	key := [2]string{e.Reply, e.Node}
	if known := r.replies[key]; known != nil && e.Reply != "" {
		return known
	}
	of := &reply{first: idOf(e), draft: e.DraftID}
	r.replies[key] = of
	return of
}

func (r *reader) readCall(i *item) {
	of := r.replyOf(i.Entry)
	i.message, i.call, i.index, i.draft = of.first, i.ID, of.calls, of.draft
	i.text = argumentsOf(i.ToolCall.Arguments.Raw)
	if of.draft != "" {
		i.call = callID(of.draft, i.index)
	}
	of.calls++
	if r.calls == nil {
		r.calls = map[int]string{}
	}
	r.calls[i.Seq] = i.call
}

// callID is the ID of a call of a reply that has a name.
func callID(draft string, index int) string { return fmt.Sprintf("%s-%d", draft, index) }

// readResult pairs a result with its call. One that nobody has asked for is that of itself.
func (r *reader) readResult(i *item) {
	i.draft, i.call, i.text, i.meta = "", i.ID, i.ToolCall.Result.Inline, resultMetadata(*i.ToolCall)
	if call, ok := r.calls[i.Answers]; ok {
		i.call = call
	}
	if i.Missing {
		i.message, i.text = i.call+"-result", textNoResult
	}
}

// argumentsOf are the arguments of a call as they are sent.
func argumentsOf(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return "{}"
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
