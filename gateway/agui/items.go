package agui

import (
	"bytes"
	"encoding/json"
	"fmt"

	"agent-stop-and-go/workflows/record"
)

// item is an entry of the record with what its events need.
type item struct {
	record.Entry
	// message is the AG-UI ID of the message; for a call, that of the message it belongs to.
	message     string
	call        string // AG-UI ID of the call or, for a result, of its call
	index       int    // of a call within its reply
	text        string // for a call, its arguments
	name        string // of the node that wrote it
	draft       string // the DraftID of its reply
	hasClientID bool   // its ID is that of the client that sent it
	meta        Metadata
	notice      Custom
}

// textNoResult is the result of a call that will never have one.
const textNoResult = "The call has no result: it was not carried out, or the turn ended before its result was known."

// itemsOf returns the items of entries, in order.
func itemsOf(entries []record.Entry, tree bool) []item {
	r := reader{tree: tree, items: make([]item, 0, len(entries)), replies: map[[2]string]*reply{}}
	for _, e := range entries {
		r.read(e)
	}
	return r.items
}

// reader converts entries to items.
type reader struct {
	tree    bool
	items   []item
	replies map[[2]string]*reply
	calls   map[int]string // AG-UI IDs by Seq
}

type reply struct {
	first, draft string
	calls        int
}

func (r *reader) read(e record.Entry) {
	i := item{Entry: e, message: e.ID, text: e.Text, draft: e.DraftID}
	switch e.Kind {
	case record.KindMessage:
		i.message, i.draft, i.hasClientID = idOf(e), "", e.ClientID() != ""
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

// idOf returns the AG-UI ID of a message.
func idOf(e record.Entry) string {
	if e.DraftID != "" {
		return e.DraftID
	}
	return e.ID
}

// replyOf returns the reply that a message belongs to.
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

// callID is the ID of a call of a reply that has a DraftID.
func callID(draft string, index int) string { return fmt.Sprintf("%s-%d", draft, index) }

// readResult sets the call of a result. A result without a call has its own ID as that of the
// call.
func (r *reader) readResult(i *item) {
	i.draft, i.call, i.text, i.meta = "", i.ID, i.ToolCall.Result.Inline, resultMetadata(i.Entry)
	if call, ok := r.calls[i.Answers]; ok {
		i.call = call
	}
	if i.Missing {
		i.message, i.text = i.call+"-result", textNoResult
	}
}

// argumentsOf returns the arguments of a call as they are sent.
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
