package agui

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/record"
	"agent-stop-and-go/workflows/record/document"
)

// State is the state of a conversation at one moment.
type State = record.State

// view contains the entries and items of a state, computed once for all streams.
type view struct {
	entries []record.Entry
	items   []item
}

type viewKey struct{}

// viewOf returns the view of a state. It must not be changed.
func viewOf(st State) view {
	if !st.Unchanged() {
		return newView(st)
	}
	return st.Once(viewKey{}, func(st State) any { return newView(st) }).(view)
}

func newView(st State) view {
	entries := st.Entries()
	return view{entries, itemsOf(entries, st.Tree != nil)}
}

// sharedView is the shared state of a State, member by member.
type sharedView struct {
	of      State
	members []member
}

type sharedKey struct{}

// membersOf returns the shared state of a State, member by member. It is computed again only
// if one of its sources has changed.
func membersOf(st State) []member {
	v := st.Once(sharedKey{}, func(st State) any { return sharedView{st, sharedOf(st).members()} }).(sharedView)
	now, then := st.Document, v.of.Document
	same := st.Tree == v.of.Tree && now.Status == then.Status && now.Title == then.Title && now.Model == then.Model && now.Usage == then.Usage &&
		authRequired(st) == authRequired(v.of) && len(now.PendingApprovals) == len(then.PendingApprovals) &&
		(len(now.PendingApprovals) == 0 || &now.PendingApprovals[0] == &then.PendingApprovals[0])
	if same {
		return v.members
	}
	return sharedOf(st).members()
}

// SharedState is the part of the agent's state that clients see. All members are always
// present.
type SharedState struct {
	Status           contract.Status   `json:"status"`
	Tree             *document.Tree    `json:"tree"`
	PendingApprovals []PendingApproval `json:"pending_approvals"`
	Usage            document.Usage    `json:"usage"`
	// Title is the title that somebody gave the conversation, or "".
	Title string `json:"title"`
	// Model was chosen for the conversation, or is "".
	Model string `json:"model"`
	// AuthRequired names the server or agent for which the last turn ended because the caller must
	// log in. It is empty while a turn is running.
	AuthRequired string `json:"auth_required"`
}

// PendingApproval summarizes a waiting approval.
type PendingApproval struct {
	UUID        string          `json:"uuid"`
	Tool        string          `json:"tool"`
	Node        string          `json:"node,omitempty"`
	Reason      contract.Reason `json:"reason,omitempty"`
	Description string          `json:"description"`
	CreatedAt   time.Time       `json:"created_at"`
}

func pendingIn(st State) []contract.PendingApproval { return st.Document.PendingApprovals }

// isWorking reports whether more will come without anyone acting.
func isWorking(st State) bool {
	return st.Running || st.Document.Queued > 0 && len(pendingIn(st)) == 0
}

func sharedOf(st State) SharedState {
	s := SharedState{
		Status: st.Document.Status, Tree: st.Tree, Usage: st.Document.Usage, PendingApprovals: []PendingApproval{},
		AuthRequired: authRequired(st), Title: st.Document.Title, Model: st.Document.Model,
	}
	for _, p := range pendingIn(st) {
		s.PendingApprovals = append(s.PendingApprovals, PendingApproval{
			UUID: p.UUID, Tool: p.ToolName, Node: p.Node, Reason: p.Reason, Description: p.Description,
			CreatedAt: p.CreatedAt,
		})
	}
	return s
}

func authRequired(st State) string {
	if st.View.Last == nil || isWorking(st) || len(pendingIn(st)) > 0 {
		return ""
	}
	return st.View.Last.AuthRequired
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
	pathTitle     = "/" + Namespace + "/title"
	pathModel     = "/" + Namespace + "/model"
	pathLogin     = "/" + Namespace + "/auth_required"
)

func (s SharedState) members() []member {
	return []member{
		{pathStatus, encoded(s.Status)}, {pathTree, encoded(s.Tree)},
		{pathApprovals, encoded(s.PendingApprovals)}, {pathUsage, encoded(s.Usage)},
		{pathLogin, encoded(s.AuthRequired)},
		{pathTitle, encoded(s.Title)}, {pathModel, encoded(s.Model)},
	}
}

// object parses a front end's own state. Without a state it returns an empty object, and nil
// if the state is not an object.
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

// mergeState returns the state of the client: its own members and the agent's state.
func mergeState(own map[string]json.RawMessage, agent SharedState) map[string]json.RawMessage {
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

// changes returns the operations that turn one state into the other.
func changes(from, to []member) []Patch {
	var delta []Patch
	for n, m := range to {
		if n >= len(from) || !bytes.Equal(from[n].json, m.json) {
			delta = append(delta, Patch{Op: "replace", Path: m.path, Value: m.json})
		}
	}
	return delta
}

// runningNodes returns the names of the running nodes, outer nodes first.
func runningNodes(st State) []string {
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
