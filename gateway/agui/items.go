package agui

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

type kind int

const (
	kindUser kind = iota
	kindText
	kindCall
	kindResult
	kindNotice
)

// item is a message of the transcript as it is told.
type item struct {
	kind kind
	id   string // in the transcript
	sum  uint64 // of the ID and of what it says
	node string
	// message is the AG-UI ID; that of the parent for a call.
	message string
	call    string // the AG-UI ID of the call, or of the call of a result
	tool    string
	index   int    // of a call within its reply
	text    string // of a call: its arguments
	name    string // of who says it
	draft   string // the reply that it is part of
	plain   bool   // not what a model has said
	named   bool   // a sender has given it its ID
	meta    Metadata
	notice  Custom
}

// textNoResult stands for the result of a call that will not have one.
const textNoResult = "The call has no result: it was not carried out, or the turn ended before its result was known."

// reader makes items of messages.
type reader struct {
	tree    bool
	items   []item
	replies map[[2]string]*reply
	open    []asked // calls without a result, oldest first
}

type reply struct {
	first, draft string
	calls        int
}

type asked struct {
	item
	reply, provider string // the provider's ID of the call
}

// itemsOf are the messages as they are told. Calls of turns that are over and that
// have no result get one. over: the last turn is.
func itemsOf(messages []contract.Message, tree, over bool) []item {
	r := reader{tree: tree, replies: map[[2]string]*reply{}}
	for _, m := range messages {
		r.read(m)
	}
	if over {
		r.abandon()
	}
	return r.items
}

// written is what a person wrote of a message.
func written(m contract.Message) string {
	return m.Content.Inline[max(0, min(m.Preface, len(m.Content.Inline))):]
}

func (r *reader) read(m contract.Message) {
	switch {
	case m.Notice:
		r.add(item{kind: kindNotice, id: m.ID, message: m.ID, node: m.Node, draft: m.Draft, notice: r.notice(m)})
	case m.Role == contract.RoleUser:
		r.abandon()
		r.add(item{kind: kindUser, id: m.ID, message: idOf(m), node: m.Node, text: written(m), named: m.Draft != ""})
	case m.Role == contract.RoleAssistant && m.ToolCall != nil:
		r.readCall(m)
	case m.Role == contract.RoleAssistant:
		r.readText(m)
	case m.Role == contract.RoleTool && m.ToolCall != nil:
		r.readResult(m)
	}
}

func (r *reader) add(i item) {
	digest := sha256.Sum256([]byte(i.id + "\x00" + i.text))
	i.sum = binary.BigEndian.Uint64(digest[:])
	r.items = append(r.items, i)
}

// idOf is the AG-UI ID of a message.
func idOf(m contract.Message) string {
	if m.Draft != "" {
		return m.Draft
	}
	return m.ID
}

// replyOf is the reply that a message is part of.
func (r *reader) replyOf(m contract.Message) (of *reply, first bool) {
	key := [2]string{m.Reply, m.Node}
	if known := r.replies[key]; known != nil && m.Reply != "" {
		return known, false
	}
	of = &reply{first: idOf(m), draft: m.Draft}
	r.replies[key] = of
	return of, true
}

func (r *reader) readText(m contract.Message) {
	i := item{kind: kindText, id: m.ID, message: idOf(m), node: m.Node, text: r.said(m), draft: m.Draft}
	if r.tree {
		i.name = m.Node
	}
	i.plain = m.Draft == "" && m.Reply == ""
	if m.Reply != "" {
		r.replyOf(m)
	}
	r.add(i)
}

// said is what a message says. What a node of a tree ends with begins with its name.
func (r *reader) said(m contract.Message) string {
	if !r.tree || m.Node == "" || m.Reply != "" {
		return m.Content.Inline
	}
	return strings.TrimPrefix(m.Content.Inline, "["+m.Node+"] ")
}

func (r *reader) readCall(m contract.Message) {
	of, _ := r.replyOf(m)
	i := item{
		kind: kindCall, id: m.ID, message: of.first, call: m.ID, node: m.Node, index: of.calls, draft: of.draft,
		tool: m.ToolCall.Name, text: argumentsOf(m.ToolCall.Arguments.Raw),
	}
	if of.draft != "" {
		i.call = callID(of.draft, i.index)
	}
	of.calls++
	r.add(i)
	r.open = append(r.open, asked{item: i, reply: m.Reply, provider: m.ToolCall.ID})
}

// callID is the ID of a call of a reply that has a name.
func callID(draft string, index int) string { return fmt.Sprintf("%s-%d", draft, index) }

func (r *reader) readResult(m contract.Message) {
	r.add(item{
		kind: kindResult, id: m.ID, message: m.ID, node: m.Node, call: r.answered(m),
		text: m.ToolCall.Result.Inline, meta: resultMetadata(*m.ToolCall),
	})
}

// answered is the ID of the call that a message is the result of: that of the same
// reply with the same provider's ID, or else with the same tool.
func (r *reader) answered(m contract.Message) string {
	best, score := -1, 0
	for n, a := range r.open {
		if a.node != m.Node || a.tool != m.ToolCall.Name {
			continue
		}
		s := 1
		if a.reply == m.Reply {
			s += 2
		}
		if a.provider == m.ToolCall.ID {
			s++
		}
		if s > score {
			best, score = n, s
		}
	}
	if best < 0 {
		return m.ID // nobody has asked for it
	}
	call := r.open[best].call
	r.open = append(r.open[:best], r.open[best+1:]...)
	return call
}

// abandon gives a result to the calls that will not have one.
func (r *reader) abandon() {
	for _, a := range r.open {
		id := a.call + "-result"
		r.add(item{
			kind: kindResult, id: id, message: id, node: a.node, call: a.call, text: textNoResult,
			meta: Metadata{Namespace: resultMeta{IsError: true}},
		})
	}
	r.open = nil
}

// argumentsOf are the arguments of a call as they are told.
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
