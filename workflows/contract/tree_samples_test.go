package contract_test

import (
	"time"

	. "agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/delegation"
	"agent-stop-and-go/workflows/contract/login"
	"agent-stop-and-go/workflows/contract/verdict"
)

const run = "conversation-" + conversationID + "/turn-3/pipeline"

func peer() Peer {
	return Peer{Name: "researcher", URL: "http://localhost:9001/a2a", Description: "Finds things", Destructive: true, Timeout: 2 * time.Hour, Context: delegation.ContextConversation}
}

func origin() *Origin {
	return &Origin{
		Chain: []string{"researcher", "archivist"}, UUID: approvalID, Tool: "resources_add", Arguments: arguments(), Digest: Hash([]byte("{}")),
		Reason: ReasonQuestion, Description: "Adds apple.", Schema: JSON{Raw: []byte(`{"type":"object"}`)}, Accepts: accepts,
	}
}

// node returns a node with every field set, which no configured node has.
func node() Node {
	remote := peer()
	return Node{
		Name: "pipeline", Type: NodeLoop, Description: "Writes and reviews", OutputKey: "text", OnReject: OnRejectContinue,
		Timeout: time.Hour, Prompt: Inline("Review {draft}."), Keys: []string{"draft"}, Expects: []string{"draft"}, SkipApproval: true, Model: DefaultModel,
		MaxToolRounds: 5, History: true, Tools: []string{"resources"}, CanExitLoop: true, Peers: []Peer{peer()}, Peer: &remote,
		Nodes: []Node{leaf("writer"), leaf("reviewer")}, MaxIterations: 4, FailFast: true, OutputSchema: arguments(),
	}
}

func leaf(name string) Node {
	return Node{Name: name, Type: NodeLLM, Prompt: Inline("Write."), Model: DefaultModel}
}

// tree returns a tree as configured in a file.
func tree() Node {
	remote := peer()
	loop := Node{Name: "polish", Type: NodeLoop, Nodes: []Node{leaf("writer")}, MaxIterations: 4}
	ask := Node{Name: "ask", Type: NodeA2A, Prompt: Inline("{user_message}"), Keys: []string{KeyUserMessage}, Peer: &remote}
	return Node{Name: "pipeline", Type: NodeSequential, Nodes: []Node{loop, ask}}
}

func state() State {
	return State{{Key: "draft", Text: Inline("A draft")}, {Key: "notes", Text: blobText()}}
}

func nodeState() *NodeState {
	folded := blob()
	return &NodeState{
		Status: NodeWaiting, Run: run, StartedAt: noon, EndedAt: noon.Add(time.Minute), Output: Inline("A draft"), Usage: usage(),
		Iteration: 2, Approvals: []string{approvalID}, Nodes: []NodeState{{Status: NodeDone, Output: blobText()}, {}}, Offloaded: &folded,
	}
}

func pipeline() *PipelineState {
	return &PipelineState{Path: []int{1, 0}, OutputKey: "draft", State: state(), UserMessage: Inline("Write it")}
}

func treeView() TreeView {
	return TreeView{ConversationID: conversationID, Turn: 3, Node: node(), State: *nodeState(), Running: []NodeState{*nodeState()}}
}

func nodeResult() NodeResult {
	return NodeResult{
		Outcome: OutcomeRejected, Output: Inline("Operation cancelled by user."), Delta: state(), Transcript: transcriptValue(),
		Usage: usage(), Tree: *nodeState(), Exit: true, AuthRequired: "resources", Credential: sealed, Worked: time.Minute,
		Granted: *limits(),
		Counts:  []Counts{{Node: "writer", Done: 2, Failed: 1, Rejected: 1}}, Dialogues: dialogues(),
	}
}

func dialogues() []delegation.Dialogue {
	return []delegation.Dialogue{{Place: "0.1", URL: "http://localhost:9001/a2a", Point: delegation.Point{ContextID: "context-1", TaskID: "task-1", EndedAt: noon, Since: noon}}}
}

func nodeCarried() *NodeCarried {
	return &NodeCarried{Next: 4, Reports: 9, Seq: 30, Result: nodeResult()}
}

func openApproval() OpenApproval {
	return OpenApproval{Approval: pending(), OutputKey: "draft"}
}

func nodeReport() NodeReport {
	return NodeReport{
		Turn: 3, Run: run, Seq: 5, Execution: "3f1f7a52", Tree: *nodeState(), Transcript: transcriptValue(), Open: []OpenApproval{openApproval()},
		Decided: []ApprovalResult{approvalResult()}, Waiting: []string{approvalID}, State: state(), Lost: []string{run},
	}
}

func treeSamples() map[string]any {
	return map[string]any{
		"Node":          node(),
		"Node-tree":     tree(),
		"Peer":          peer(),
		"Value":         Value{Key: "draft", Text: Inline("A draft")},
		"State":         state(),
		"NodeState":     *nodeState(),
		"NodeState-new": NodeState{},
		"PipelineState": *pipeline(),
		// The root itself has paused.
		"PipelineState-root": PipelineState{Path: []int{}, State: State{}, UserMessage: Inline("Write it")},
		"TreeView":           treeView(),
	}
}

func nodeSamples() map[string]any {
	history := transcriptValue()
	return map[string]any{
		"NodeInput": NodeInput{
			Dialogues:      delegation.Dialogues{Place: "0.1", List: dialogues()},
			ConversationID: conversationID, SessionID: "s-1", Owner: identity(), Chain: []string{"front"}, Agent: agent(), ConfigHash: "0123456789ab", Turn: 3, Path: []int{1, 0},
			Node: node(), User: message(), ClientTools: tools(), ToolChoice: toolChoice(), History: &history, State: state(), Credential: sealed, Consumption: spent(), Budget: time.Hour, Carried: nodeCarried(), Key: run, Caller: facts().Caller,
		},
		"NodeCarried":  *nodeCarried(),
		"NodeResult":   nodeResult(),
		"NodeReport":   nodeReport(),
		"NodeReports":  NodeReports{Urgent: true, Reports: []NodeReport{nodeReport()}},
		"Counts":       Counts{Node: "writer", Done: 2, Failed: 1, Rejected: 1},
		"OpenApproval": openApproval(),
	}
}

func delegationSamples() map[string]any {
	message := JSON{Raw: []byte(`{"message":"Find it"}`)}
	judged := verdict.Delegation{Tool: "a2a_shop", Destructive: true, Node: "writer", Facts: facts()}
	folded, nodes := Offloaded{Head: *head(), Count: 2}, blob()
	return map[string]any{
		"LastTurn": *lastTurn(),
		"DelegateInput": DelegateInput{
			Rate:           passage(),
			ConversationID: conversationID, SessionID: "s-1", Peer: peer(), MessageID: messageID, Arguments: message,
			SHA256: Hash(message.Raw), TaskID: "task-1", ContextID: "context-1", Decision: Approved, Chain: []string{"front", "helper"},
			Asked: origin(), Content: JSON{Raw: []byte(`{"name":"x"}`)}, By: "ops", Reason: "it is fine", Cancel: true, Destructive: true,
			Question: Inline("Delete it?"), Claim: messageID, Grant: approvalID, Continues: &delegation.Point{ContextID: "context-1", TaskID: "task-0"},
		},
		"DelegateResult": DelegateResult{
			State: TaskInputRequired, TaskID: "task-1", ContextID: "context-1", Text: Inline("May I?"), Media: []Media{media()}, Asked: origin(), Note: "note", NoEntry: true, Login: need(), Anew: true,
		},
		"DeliveryResult":  DeliveryResult{State: TaskCanceled, Problem: "the agent refused"},
		"Origin":          *origin(),
		"ApprovalRequest": approvalRequest(),
		"ApprovalAnswer": ApprovalAnswer{
			Type: TypeApprovalAnswer, UUID: approvalID, Approved: true, By: "ops", Reason: "it is fine", Content: []byte(`{"name":"x"}`),
		},
		"ComposeInput":  ComposeInput{Template: Inline("Find {draft}"), Values: state(), Parts: []Text{Inline("a"), blobText()}, Arguments: true, Judged: &judged},
		"ComposeResult": ComposeResult{Text: Inline("Find it"), Arguments: message, SHA256: Hash(message.Raw), Verdict: ruled(), Audited: true},
		"OffloadInput":  OffloadInput{Transcript: transcriptValue(), Whole: true, Texts: []Text{Inline("A draft")}, Nodes: []NodeState{*nodeState()}, NodesBefore: &nodes},
		"OffloadResult": OffloadResult{Offloaded: &folded, Texts: []Text{blobText()}, Nodes: &nodes},
	}
}

func requiredLogin() *login.Required {
	return &login.Required{Server: "crm", Agent: true, Way: login.AtAgent, URL: "https://shop.example.com/approvals/1/login"}
}

func approvalRequest() ApprovalRequest {
	return ApprovalRequest{
		Type: TypeApprovalRequest, UUID: approvalID, Tool: "resources_add", Arguments: arguments().Raw, Digest: Hash([]byte("{}")),
		Description: "**ADD Resource**", Reason: ReasonDestructive, Schema: []byte(`{"type":"object"}`), Chain: []string{"researcher", "archivist"},
		Accepts: "approved or rejected", Login: requiredLogin(),
	}
}
