package agui

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/document"
)

// State is a conversation at a moment.
type State struct {
	// Document is the conversation. Its messages are not read: they do not tell what
	// is a notice and what is one reply.
	Document document.Conversation
	// Messages are those of the conversation, with every text in place
	// (transcript.Load, then transcript.Resolve of each).
	Messages []contract.Message
	// Tree is nil for an agent that is one node.
	Tree *document.Tree
	// Running tells that work is under way: the run stays open.
	Running bool
	// View is the conversation as its workflow told it, and Response the text of its
	// Last. Streams of events do not read them.
	View     contract.ConversationView
	Response string

	prepared *prepared
}

// prepared are the items of a state, for all streams that are told of it.
type prepared struct {
	of         []contract.Message
	tree, over bool
	items      []item
	from       State
	members    []member
}

// Prepared is the state with what every stream would otherwise work out by itself.
func (st State) Prepared() State {
	st.prepared = &prepared{of: st.Messages, tree: st.Tree != nil, over: st.over()}
	st.prepared.items = itemsOf(st.Messages, st.prepared.tree, st.prepared.over)
	st.prepared.from, st.prepared.members = st, st.shared().members()
	return st
}

// members is the state that clients see, member by member.
func (st State) members() []member {
	p := st.prepared
	if p == nil {
		return st.shared().members()
	}
	now, then := st.Document, p.from.Document
	same := st.Tree == p.from.Tree && now.Status == then.Status && now.Usage == then.Usage &&
		len(now.PendingApprovals) == len(then.PendingApprovals) &&
		(len(now.PendingApprovals) == 0 || &now.PendingApprovals[0] == &then.PendingApprovals[0])
	if same {
		return p.members
	}
	return st.shared().members()
}

// items are the messages as they are told. Nobody may change them.
func (st State) items() []item {
	p := st.prepared
	same := p != nil && p.tree == (st.Tree != nil) && p.over == st.over() && len(p.of) == len(st.Messages) &&
		(len(p.of) == 0 || &p.of[0] == &st.Messages[0])
	if same {
		return p.items
	}
	return itemsOf(st.Messages, st.Tree != nil, st.over())
}

// SharedState is the agent's state as clients see it. All members are always there.
type SharedState struct {
	Status           contract.Status   `json:"status"`
	Tree             *document.Tree    `json:"tree"`
	PendingApprovals []PendingApproval `json:"pending_approvals"`
	Usage            document.Usage    `json:"usage"`
}

// PendingApproval is an approval in short.
type PendingApproval struct {
	UUID        string          `json:"uuid"`
	Tool        string          `json:"tool"`
	Node        string          `json:"node,omitempty"`
	Reason      contract.Reason `json:"reason,omitempty"`
	Description string          `json:"description"`
	CreatedAt   time.Time       `json:"created_at"`
}

func (st State) pending() []contract.PendingApproval { return st.Document.PendingApprovals }

// working reports whether there is more to come without anybody doing anything.
func (st State) working() bool {
	return st.Running || st.Document.Queued > 0 && len(st.pending()) == 0
}

// over reports whether the last turn has ended.
func (st State) over() bool { return !st.Running && len(st.pending()) == 0 }

func (st State) shared() SharedState {
	s := SharedState{
		Status: st.Document.Status, Tree: st.Tree, Usage: st.Document.Usage, PendingApprovals: []PendingApproval{},
	}
	for _, p := range st.pending() {
		s.PendingApprovals = append(s.PendingApprovals, PendingApproval{
			UUID: p.UUID, Tool: p.ToolName, Node: p.Node, Reason: p.Reason, Description: p.Description,
			CreatedAt: p.CreatedAt,
		})
	}
	return s
}

// member is a member of the shared state.
type member struct {
	path string
	json json.RawMessage
}

// The paths of the members in the state of a client.
const (
	pathStatus    = "/" + Namespace + "/status"
	pathTree      = "/" + Namespace + "/tree"
	pathApprovals = "/" + Namespace + "/pending_approvals"
	pathUsage     = "/" + Namespace + "/usage"
)

func (s SharedState) members() []member {
	return []member{
		{pathStatus, encoded(s.Status)}, {pathTree, encoded(s.Tree)},
		{pathApprovals, encoded(s.PendingApprovals)}, {pathUsage, encoded(s.Usage)},
	}
}

// object is a front end's own state as an object, or nil where it is something else. No
// state is an empty one.
func object(own json.RawMessage) map[string]json.RawMessage {
	members := map[string]json.RawMessage{}
	switch {
	case len(own) == 0, string(own) == "null":
		return members
	case json.Unmarshal(own, &members) != nil:
		return nil
	}
	return members
}

// with is the state of the client: its own, and the agent's.
func with(own map[string]json.RawMessage, agent SharedState) map[string]json.RawMessage {
	both := maps.Clone(own)
	both[Namespace] = encoded(agent)
	return both
}

func encoded(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil { // documents can be encoded
		return json.RawMessage("null")
	}
	return data
}

// changes are the operations that make one state of another.
func changes(from, to []member) []Patch {
	var delta []Patch
	for n, m := range to {
		if n >= len(from) || !bytes.Equal(from[n].json, m.json) {
			delta = append(delta, Patch{Op: "replace", Path: m.path, Value: m.json})
		}
	}
	return delta
}

// runningNodes are the names of the nodes that run, those around others first.
func (st State) runningNodes() []string {
	if st.Tree == nil {
		return nil
	}
	var names []string
	var walk func(document.Node)
	walk = func(n document.Node) {
		if n.Status == contract.NodeRunning && !slices.Contains(names, n.Name) {
			names = append(names, n.Name)
		}
		for _, inside := range n.Agents {
			walk(inside)
		}
	}
	walk(st.Tree.Tree)
	return names
}
