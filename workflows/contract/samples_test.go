package contract_test

import (
	"encoding/json"
	"strings"
	"time"

	. "agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/clienttool"
	"agent-stop-and-go/workflows/contract/deputy"
	"agent-stop-and-go/workflows/contract/difference"
	"agent-stop-and-go/workflows/contract/edit"
	"agent-stop-and-go/workflows/contract/generation"
	"agent-stop-and-go/workflows/contract/grant"
	"agent-stop-and-go/workflows/contract/judgement"
	"agent-stop-and-go/workflows/contract/later"
	"agent-stop-and-go/workflows/contract/login"
	"agent-stop-and-go/workflows/contract/mcp"
	"agent-stop-and-go/workflows/contract/promptversion"
	"agent-stop-and-go/workflows/contract/rates"
	"agent-stop-and-go/workflows/contract/reminder"
	"agent-stop-and-go/workflows/contract/ticket"
	"agent-stop-and-go/workflows/contract/toolchoice"
	"agent-stop-and-go/workflows/contract/verdict"
)

const (
	conversationID = "3f1f7a52-6c1e-4a7e-9d55-0a4f8d2b1c01"
	approvalID     = "5b0c0f6e-2d3a-5a4f-8a39-6e9b1f1a2b02"
	requestID      = "9d6c1c54-7b1f-4d0e-b1a5-2f3c4d5e6f03"
	messageID      = "0e8f9d0a-1b2c-5d3e-8f4a-5b6c7d8e9f04"
	sealed         = "v1.k1.c2VhbGVk"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 123456789, time.UTC)

// samples holds one value of every wire type, under the type's name, with every field set. A
// name with a dash is a variant, with fields omitted. So is a value inside another of its own
// type.
func samples() map[string]any {
	all := map[string]any{}
	for _, group := range []map[string]any{
		valueSamples(), messageSamples(), conversationSamples(), signalSamples(), approvalSamples(), activitySamples(),
		treeSamples(), nodeSamples(), delegationSamples(), pushSamples(),
	} {
		for name, value := range group {
			all[name] = value
		}
	}
	return all
}

func blob() Blob {
	return Blob{SHA256: strings.Repeat("5e", 32), Size: 9000, Preview: "The first words"}
}

func storeCheck() StoreCheck {
	return StoreCheck{Own: blob(), Probe: blob(), Problem: "not in the store"}
}

func blobText() Text { b := blob(); return Text{Blob: &b} }

func blobJSON() JSON { b := blob(); return JSON{Blob: &b} }

func arguments() JSON { return JSON{Raw: json.RawMessage(`{"name":"web-1","value":42}`)} }

func digest() string { return Hash(arguments().Raw) }

func valueSamples() map[string]any {
	return map[string]any{
		"Blob":      blob(),
		"Text":      Inline("Grüße"),
		"Text-blob": blobText(),
		"JSON":      arguments(),
		"JSON-blob": blobJSON(),
		"Identity":  identity(),
		"Name":      identity().Name(),
	}
}

const proof = "v1.k1.proof"

func rules() []string { return []string{"group:ops", "not_requester"} }

func identity() Identity {
	return Identity{
		Subject: "alice", Issuer: "https://login.example.com", Groups: []string{"ops"},
		Scopes: []string{ScopeConverse, ScopeReadAll}, Channel: ChannelREST,
	}
}

func ruled() *verdict.Verdict {
	return &verdict.Verdict{
		Outcome: verdict.Ask, Rule: "big", Policy: "0123456789ab", Text: "no such key",
		Asks: []verdict.Approval{{Rule: "big", By: []string{"group:ops"}, NotRequester: true, Expires: time.Hour, Remind: plan(), Edit: []string{"value"}}},
	}
}

func facts() *verdict.Facts {
	return &verdict.Facts{
		Caller: &verdict.Caller{Subject: "alice", Issuer: "keys", Groups: []string{"ops"}, Scopes: []string{ScopeConverse}, Channel: ChannelREST},
		Chain:  []string{"front"}, Usage: verdict.Usage{InputTokens: 1, OutputTokens: 2, Calls: 3, CostNanos: 4},
	}
}

func head() *Head { return &Head{Blob: blob(), Count: 12} }

func toolCall() ToolCall {
	return ToolCall{
		ID: "call_1", Name: "resources_add", Arguments: arguments(), Result: Inline("added"), IsError: true,
		Media: []Media{media(), plainMedia()}, Links: []Link{link()}, Note: "Called without authorization.", Used: "find", Verdict: ruled(),
	}
}

// textCall returns a call recorded before the field Media existed.
func textCall() ToolCall {
	c := toolCall()
	c.Media, c.Links = nil, nil
	return c
}

func link() Link {
	return Link{URI: "https://example.com/plan.pdf", Name: "plan", MIMEType: "application/pdf"}
}

func media() Media { return Media{Blob: blob(), MIMEType: "image/png", Name: "chart.png"} }

func plainMedia() Media {
	m := Media{Blob: blob(), MIMEType: "audio/wav"}
	m.Preview = ""
	return m
}

func message() Message {
	m := wholeMessage()
	m.Segment = part()
	return m
}

func wholeMessage() Message {
	call, audit, sender := toolCall(), approvalResult(), identity()
	return Message{
		ID: messageID, Role: RoleTool, Content: Inline("text"), ToolCall: &call, Node: "writer", Reply: "reply-1",
		Approval: &audit, Notice: true, CreatedAt: noon, Model: "gemini-2.5-flash", Usage: usage(), Native: native(),
		DraftID: "draft-1", Echo: arguments(), Preface: 3, Media: []Media{media()}, ResultOf: messageID, ApprovalID: approvalID, Reminds: approvalID, Outcome: OutcomeDone,
		Identity: &sender,
	}
}

func part() *Segment {
	inside := wholeMessage()
	inside.Segment = &Segment{Run: run + "/polish"}
	return &Segment{Run: run, Transcript: &Transcript{Head: head(), Tail: []Message{inside, plainMessage()}}}
}

func plainMessage() Message {
	return Message{ID: messageID, Role: RoleUser, Content: Inline("Hello"), CreatedAt: noon}
}

func transcriptValue() Transcript {
	return Transcript{Head: head(), Tail: []Message{message(), plainMessage()}}
}

func usage() Usage {
	return Usage{InputTokens: 100, OutputTokens: 20, CachedTokens: 80, Calls: 2, Cost: 1_500_000}
}

func native() *Native {
	return &Native{Provider: ProviderGoogle, Model: "gemini-2.5-flash", Content: JSON{Raw: json.RawMessage(`{"parts":[]}`)}}
}

func callTicket() ticket.Ticket { return ticket.Ticket{Queue: "agent-stop-and-go-XYZ", ID: "ABC"} }

func digestOf() *Summary {
	return &Summary{Through: messageID, Messages: 12, Text: Inline("They said hello.")}
}

func limit() Limit { return Limit{Tokens: 1000, Cost: 2_000_000_000, Calls: 20, Time: time.Minute} }

func limits() *Limits { return &Limits{Turn: limit(), Conversation: limit()} }

func outlay() Used { return Used{Usage: usage(), Time: time.Second, Granted: limit()} }

func spent() Consumption { return Consumption{Turn: outlay(), Conversation: outlay()} }

func route() ModelRoute {
	return ModelRoute{Name: "fast", Fallback: []string{"openai:gpt-4o"}, Timeout: 2 * time.Minute}
}

func messageSamples() map[string]any {
	return map[string]any{
		"Head":          *head(),
		"ToolCall":      toolCall(),
		"ToolCall-text": textCall(),
		"Link":          link(),
		"Media":         media(),
		"Media-plain":   plainMedia(),
		"Message":       message(),
		"Segment":       *part(),
		"Transcript":    transcriptValue(),
		"Usage":         usage(),
		"Native":        *native(),
		"Summary":       *digestOf(),
	}
}

func agent() Agent {
	root := node()
	return Agent{
		Name: "helper", Description: "Keeps resources", Prompt: Inline("You keep resources."), PromptVersion: promptVersion(), Model: DefaultModel,
		MaxToolRounds: 5, Execution: ExecutionLean, ApprovalTimeout: 90 * time.Minute, CallAs: CallAsApprover, Approvers: rules(), Webhooks: true, Node: "writer",
		Peers: []Peer{peer()}, Models: []ModelRoute{route()}, Choices: []string{"fast"}, Limits: limits(), Tree: &root,
	}
}

func promptVersion() *promptversion.Version {
	return &promptversion.Version{
		Source: "server prompts", Number: 3, Digest: "0123456789ab", Sections: []promptversion.Section{{Name: "tone", Digest: "ba9876543210"}}, More: 1, Fallback: "it does not answer",
	}
}

func result() Result {
	p := pending()
	return Result{Response: Inline("Done."), WaitingApproval: true, Approval: &p, AuthRequired: true}
}

func request() Request {
	r := result()
	return Request{ID: requestID, Fingerprint: "f1", Settled: true, Refused: KindWaiting, Result: &r, Predicted: true}
}

func view() ConversationView {
	r := request()
	return ConversationView{
		ID: conversationID, SessionID: "s-1", ContextID: "context-1", AgentName: "helper", Owner: identity(), Status: StatusWaitingApproval,
		Transcript: transcriptValue(), Pending: []PendingApproval{pending()}, Pipeline: pipeline(),
		Running: true, Queued: 2, Usage: usage(), CreatedAt: noon, UpdatedAt: noon.Add(time.Second), Version: 7, Request: &r,
		Task: true, Chain: []string{"front"}, Last: lastTurn(), Refused: 5, Title: givenTitle(), Model: "fast",
		Prompts: []promptversion.Use{{Version: *promptVersion(), At: noon, By: "ops"}},
	}
}

func givenTitle() *Title {
	return &Title{Text: "Fruit", By: "ops", OnBehalfOf: "carol", Identity: identity(), At: noon}
}

func carried() Carried {
	return Carried{Transferred: transferred(),
		CreatedAt: noon, UpdatedAt: noon.Add(time.Second), Version: 7, Seq: 9, Turn: 3, Transcript: transcriptValue(),
		Requests: []Request{request()}, Usage: usage(), ExportOwing: true, Tree: nodeState(),
		Worked: time.Minute, Granted: limit(), Summary: digestOf(), Last: lastTurn(), Notify: true, Refused: 5,
		Queue: []MessageSignal{messageSignal()}, Title: givenTitle(), Model: "fast", TurnModel: "deep",
		Prompts: []promptversion.Use{{Version: *promptVersion(), At: noon}}, Dialogues: dialogues(),
	}
}

func lastTurn() *LastTurn {
	return &LastTurn{Turn: 2, Outcome: OutcomeDone, Response: Inline("Done."), EndedAt: noon, AuthRequired: "resources"}
}

func conversationSamples() map[string]any {
	first, over := messageSignal(), carried()
	return map[string]any{
		"Agent":       agent(),
		"ModelRoute":  route(),
		"Limits":      *limits(),
		"Limit":       limit(),
		"Consumption": spent(),
		"Used":        outlay(),
		"ConversationInput": ConversationInput{
			ID: conversationID, SessionID: "s-1", Owner: identity(), Proof: proof, ContextID: "context-1", Task: true, Chain: []string{"front"}, Notify: true, Agent: agent(), First: &first, Carried: &over,
		},
		"Carried":            over,
		"Title":              *givenTitle(),
		"Result":             result(),
		"Request":            request(),
		"AwaitInput":         AwaitInput{RequestIDs: []string{requestID}},
		"AwaitResult":        AwaitResult{Settled: []Request{request()}, Conversation: view()},
		"ConversationView":   view(),
		"ConversationQuery":  ConversationQuery{RequestID: requestID, Signal: SignalMessage, Text: Inline("Hello"), NoAnswer: true, Model: "fast", Size: 100},
		"ConversationResult": ConversationResult{ID: conversationID, Status: StatusCompleted, Messages: 5, Turns: 2, Reason: "done", Usage: usage(), Outcome: OutcomeDone, ClosedBy: identity()},
	}
}

func toolChoice() toolchoice.Choice { return toolchoice.Choice{Call: []string{"pick"}, Single: true} }

func messageSignal() MessageSignal {
	return MessageSignal{RequestID: requestID, Fingerprint: "f1", Text: Inline("Hello"), Echo: arguments(), Preface: 2, Media: []Media{media()}, Name: "m-1", NoAnswer: true, Model: "fast", KeepModel: true, OutputSchema: JSON{Raw: json.RawMessage(`{"type":"object"}`)}, Tools: tools(), ToolChoice: toolChoice(), Credential: sealed, Identity: identity(), Proof: proof, Groups: []string{"ops"}, Scopes: []string{ScopeConverse}}
}

func signalSamples() map[string]any {
	return map[string]any{
		"MessageSignal":  messageSignal(),
		"CancelSignal":   CancelSignal{RequestID: requestID, Reason: "wrong question", By: "ops", OnBehalfOf: "carol", Identity: identity(), Proof: proof},
		"CloseSignal":    CloseSignal{RequestID: requestID, Reason: "done", UnchangedSince: noon, By: "ops", OnBehalfOf: "carol", Identity: identity(), Proof: proof},
		"DecideSignal":   DecideSignal{RequestID: requestID, Approved: true, By: "ops", Reason: "fine", Via: "rest", Chain: []string{"front"}, Credential: sealed, Content: content(), OnBehalfOf: "carol", Identity: identity(), Proof: proof, For: inPlace(), Edit: json.RawMessage(`{"value":400}`), Echo: arguments(), Always: choice()},
		"QuestionSignal": QuestionSignal{UUID: approvalID, Call: messageID, Attempt: 2, Message: Inline("Which one?"), Schema: schema(), Accepts: accepts, Reminder: &reminder.Reminder{Number: 1, Of: 2, At: noon, Tool: "resources_add", Since: noon}, Judgement: &judgements()[0]},
	}
}

func inPlace() *deputy.Deputy {
	boss := deputy.Person{Subject: "boss", Issuer: "keys", Groups: []string{"ops"}, Scopes: []string{ScopeApprove}}
	return &deputy.Deputy{ID: requestID, From: boss, To: boss, Approval: approvalID, Since: noon, Until: noon.Add(time.Hour), Reason: "holidays"}
}

func plan() reminder.Plan { return reminder.Plan{time.Minute} }

func approvalInput() ApprovalInput {
	return ApprovalInput{
		UUID: approvalID, ConversationID: conversationID, SessionID: "s-1", AgentName: "helper", Owner: identity(), NodePath: []int{1, 0},
		Node: "writer", Tool: "resources_add", Server: "resources", Arguments: arguments(), ArgumentsSHA256: digest(),
		Description: "**ADD Resource**", Reason: ReasonRemote, Audited: true, Because: GroundSetting, Rule: "big", Policy: "0123456789ab", RemoteTaskID: "task-1", RemoteAgent: "remote", Origin: origin(),
		CreatedAt: noon, Timeout: time.Hour, Remind: plan(), Schema: schema(), Accepts: accepts, Call: messageID, Explanation: Inline("May I?"), Binding: binding(), Granted: binding(), Approvers: rules(), Login: need(), Webhooks: true, Edit: []string{"value"}, Always: offer(), Basis: blobJSON(), Waits: ruled(),
		Continues: &dialogues()[0].Point,
		Carried:   &ApprovalCarried{Problem: "the signal was not understood", Ignored: 2, Deferrals: deferrals(), Reminded: []time.Time{noon}, Reminders: 1, Judgements: judgements()},
	}
}

// accepts, schema and content belong to a question.
const accepts = `accepted is {"content":{…}} with "name" (string, required)`

func schema() JSON {
	return JSON{Raw: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)}
}

func content() JSON { return JSON{Raw: json.RawMessage(`{"name":"web-1"}`)} }

func need() *login.Need {
	return &login.Need{
		Server: "resources", Agent: true, Way: login.AtServer, URL: "https://agent.example.com/approvals/" + approvalID + "/login",
		Caller: identity().Key(), Why: "nobody has logged in to it yet",
	}
}

func deferrals() later.List {
	return later.List{{Subject: identity().Key(), Until: noon.Add(time.Hour)}}
}

func pending() PendingApproval { return approvalInput().Pending() }

func approvalResult() ApprovalResult {
	return ApprovalResult{
		UUID: approvalID, ConversationID: conversationID, Tool: "resources_add", ArgumentsSHA256: digest(), Decision: Approved,
		By: "ops", Reason: "fine", Via: "rest", Chain: []string{"front"}, RequestID: requestID, RequestedAt: noon, DecidedAt: noon.Add(time.Minute),
		Credential: sealed, Content: content(),
		Outcome: OutcomeRan, Echo: arguments(), OnBehalfOf: "carol", Identity: identity(), For: inPlace(), Revision: revision(), Always: &grant.Given{Choice: *choice(), Problem: "too many"}, Policy: "0123456789ab",
	}
}

func revision() *Revision {
	return &Revision{
		Call: messageID, Arguments: arguments(), SHA256: digest(), Changes: []edit.Change{{Name: "value", Before: "700", After: "400"}}, Edit: digest(),
		Verdict: ruled(), Policy: "0123456789ab", Released: true,
	}
}

func judgements() judgement.List {
	needs := []judgement.Need{{Rule: "big", By: []string{"group:finance"}, Count: 2, NotRequester: true}}
	return judgement.List{{
		Policy: "0123456789ab", At: noon, Effect: judgement.Tightened, Rule: "big", Text: "why", Asks: needs, Would: &judgement.Would{Run: true, Asks: needs},
	}}
}

func approvalSamples() map[string]any {
	decided := approvalResult()
	return map[string]any{
		"ApprovalInput":   approvalInput(),
		"PendingApproval": pending(),
		"ReadAnswerInput": ReadAnswerInput{Schema: blobJSON(), Signal: `{"content":{}}`, Message: "web-1"},
		"ReadAnswerResult": ReadAnswerResult{Answer: DecideSignal{
			RequestID: requestID, Approved: true, By: "ops", Reason: "fine", Via: "rest", Chain: []string{"front"}, Credential: sealed, Content: content(), OnBehalfOf: "carol", Identity: identity(), Proof: proof, For: inPlace(), Edit: json.RawMessage(`{"value":400}`), Echo: arguments(), Always: choice(),
		}, Problem: "it is no answer"},
		"ApprovalResult":  decided,
		"Revision":        *revision(),
		"Card":            card(),
		"ApprovalCarried": *approvalInput().Carried,
		"ApprovalView":    ApprovalView{Pending: pending(), Result: &decided, Problem: `"maybe" is neither yes nor no`, Ignored: 3, Deferrals: deferrals(), Reminded: []time.Time{noon}, Judgements: judgements()},
		"Binding":         *binding(),
		"Definition":      difference.Definition{Description: "Adds", InputSchema: json.RawMessage(`{"type":"object"}`)},
		"TargetChange":    difference.TargetChange{Binding: *binding(), Difference: "Address of the server", Whole: Inline("all")},
	}
}

func card() Card {
	expiry := noon.Add(time.Hour)
	return Card{
		Server: "resources", Node: "writer", NodePath: []int{1, 0}, Chain: []string{"helper", "remote"}, Reason: ReasonRemote, Because: GroundAnnotation, Rule: "big", Policy: "0123456789ab",
		Requester: identity().Name(), Description: "**ADD Resource**", DescriptionTruncated: true, Arguments: arguments(), ArgumentsTruncated: true,
		ArgumentsPreview: "{", Digest: digest(), Answer: AnswerYesOrNo, ExpiresAt: &expiry,
	}
}

func passage() rates.Passage {
	return rates.Passage{Caller: "https%3A//id.example.com alice", Over: []string{"db"}}
}

func binding() *Binding {
	return &Binding{Address: "http://localhost:8090/mcp", SHA256: digest(), Definition: blobJSON()}
}

func call() Call {
	remote := peer()
	return Call{Approval: approvalID, Task: "task-1",
		ID: "call_1", Name: "resources_add", Arguments: arguments(), SHA256: digest(), Server: "resources", Wording: WordingResources, Binding: binding(), Because: GroundAnnotation,
		Peer: &remote, Exit: true, Client: true, Destructive: true, MayAsk: true, Audited: true, Unknown: true, Problem: "value must be a number", Preview: "-old\n+new\n", Verdict: ruled(), Basis: blobJSON(),
	}
}

func tools() JSON {
	raw, err := json.Marshal([]Tool{tool()})
	if err != nil {
		panic(err)
	}
	return JSON{Raw: raw}
}

func tool() Tool {
	return Tool{
		Name: "resources_add", Description: "Adds a resource", InputSchema: json.RawMessage(`{"type":"object"}`),
		DestructiveHint: true, Server: "resources", Approval: &ToolApproval{Asks: true, Because: GroundAnnotation},
		Rules: &verdict.OfTool{Outcome: verdict.Ask, Rule: "large", Depends: []string{"large", "small"}, On: []string{"args"}},
	}
}

func server() ServerState {
	return ServerState{Name: "resources", Ready: true, Error: "down", Tools: 3, Optional: true}
}

func resource() mcp.Resource {
	return mcp.Resource{
		Server: "resources", URI: "resource://1", Name: "web-1", Title: "Web 1", Description: "A resource",
		MIMEType: "application/json", Size: 42,
	}
}

func resourceTemplate() mcp.ResourceTemplate {
	return mcp.ResourceTemplate{
		Server: "resources", URITemplate: "resource://{id}", Name: "resource", Title: "A resource", Description: "By its number",
		MIMEType: "application/json",
	}
}

func prompt() mcp.Prompt {
	return mcp.Prompt{
		Server: "resources", Name: "tidy", Title: "Tidy up", Description: "Looks for what is old",
		Arguments: []mcp.PromptArgument{{Name: "days", Title: "Days", Description: "How old", Required: true}, {Name: "who"}},
	}
}

func activitySamples() map[string]any {
	folded, before := Offloaded{Head: *head(), Count: 2}, transcriptValue()
	model := ModelState{Name: DemoModel, Note: "offline"}
	shown, settled := treeView(), view()
	draft := generation.Draft{ID: "draft-1", Node: "writer", Model: DefaultModel, Attempt: 2, Until: noon}
	delta := generation.Delta{DraftID: "draft-1", Kind: generation.Arguments, Call: 1, Tool: "resources_add", Text: "{"}
	repair := Repair{Text: Inline("Sure!"), Problem: "it is no JSON", Overrun: true}
	return map[string]any{
		"GenerateInput": GenerateInput{ConversationID: conversationID, Model: DefaultModel, Prompt: Inline("Be brief."),
			Transcript: transcriptValue(), Before: &before, Values: state(), Tools: []string{"resources"}, Peers: []Peer{peer()}, ExitLoop: true, ClientTools: tools(), ToolChoice: toolChoice(),
			DraftID: messageID, Node: "writer", Summary: digestOf(), Schema: arguments(), Repair: &repair, Transferred: transferred(), Facts: facts()},
		"Repair": repair,
		"SummarizeInput": SummarizeInput{ConversationID: conversationID, Model: DefaultModel, Transcript: transcriptValue(), Before: &before,
			Earlier: digestOf(), Wanted: *digestOf()},
		"SummarizeResult": SummarizeResult{Summary: *digestOf(), Model: "gemini-2.5-flash", Usage: usage()},
		"GenerateResult": GenerateResult{Text: Inline("Hi"), Calls: []Call{call()}, Model: "gemini-2.5-flash", Usage: usage(),
			Finish: "tool_calls", Offloaded: &folded, DraftID: "draft-1", Native: native(), Misfit: "no title", Overrun: "it asks for 129 calls", NeedsSummary: digestOf()},
		"Offloaded": folded,

		"Start-summarize": ticket.Start[SummarizeInput]{Input: SummarizeInput{ConversationID: conversationID, Model: "demo:rules"}, Task: 17},
		"Started-result":  ticket.Started[CallToolResult]{Result: &CallToolResult{Text: Inline("added")}},
		"Started-ticket":  ticket.Started[CallToolResult]{Ticket: new(callTicket())},
		"Ticket":          callTicket(),

		"Call": call(),
		"CallToolInput": CallToolInput{ConversationID: conversationID, SessionID: "s-1", Server: "resources", Tool: "resources_add",
			Arguments: arguments(), SHA256: digest(), IdempotencyKey: "key-1", Destructive: true, MayAsk: true, Agent: "tester", Claim: messageID, Rule: "small", Policy: "0123456789ab", Standing: approvalID, Grant: approvalID, Rate: passage(), Binding: binding(), Tools: []string{"agent"}, Basis: blobJSON()},
		"CallToolResult":           CallToolResult{Text: Inline("added"), IsError: true, Media: []Media{media()}, Links: []Link{link()}, AuthRequired: "resources", Login: need(), Note: "note", Usage: usage(), Used: "find"},
		"CallToolResult-text":      CallToolResult{Text: Inline("added"), IsError: true, AuthRequired: "resources", Note: "note"},
		"ListToolsInput":           ListToolsInput{Kind: WantResources, Server: "prompts", Probe: new(blob())},
		"ListToolsInput-tools":     ListToolsInput{},
		"ListToolsInput-prompt":    ListToolsInput{Kind: WantSystemPrompt, Server: "prompts"},
		"ListToolsInput-resources": ListToolsInput{Kind: WantResources},
		"ResourceCatalogue": ResourceCatalogue{Resources: []mcp.Resource{resource()}, Templates: []mcp.ResourceTemplate{resourceTemplate()},
			Servers: []ServerState{server()}},
		"PromptCatalogue":           PromptCatalogue{Prompts: []mcp.Prompt{prompt()}, Servers: []ServerState{server()}},
		"Resource":                  resource(),
		"ResourceTemplate":          resourceTemplate(),
		"Prompt":                    prompt(),
		"PromptArgument":            prompt().Arguments[0],
		"CatalogueResult-unchecked": CatalogueResult{Body: JSON{Raw: json.RawMessage(`{"tools":[]}`)}},
		"CatalogueResult":           CatalogueResult{Body: JSON{Raw: json.RawMessage(`{"tools":[]}`)}, Store: new(storeCheck())},
		"StoreCheck":                storeCheck(),
		"Catalogue": Catalogue{Tools: []Tool{tool()}, Servers: []ServerState{server()}, Model: model,
			Problems: []string{"model openai:m needs OPENAI_API_KEY"}, Notes: []string{"others are asked"}},
		"Catalogue-plain":      Catalogue{Tools: []Tool{tool()}, Servers: []ServerState{server()}, Model: model},
		"Tool":                 tool(),
		"ToolApproval":         *tool().Approval,
		"ServerState":          server(),
		"ModelState":           model,
		"ExportInput":          ExportInput{Conversation: view(), Tree: &shown},
		"ClientToolResult":     clienttool.Result{Content: "blue", IsError: true},
		"WithdrawInput":        WithdrawInput{ConversationID: conversationID, Child: "approval-1"},
		"WithdrawResult":       WithdrawResult{Workflows: []string{"approval-1"}},
		"UnknownOutcomeAnswer": UnknownOutcomeAnswer{Outcome: OutcomeRan, Result: "17 rows"},
		"Event":                Event{ConversationID: conversationID, Draft: &draft, Delta: &delta, Settled: &settled, Tree: &shown},
		"Event-changed":        Event{ConversationID: conversationID},
		"Draft":                draft,
		"Delta":                delta,
		"ExportResult":         ExportResult{Bytes: 4096, Skipped: true},
	}
}

func transferred() JSON {
	return JSON{Raw: json.RawMessage(`{"calls":[{"name":"resources_add","arguments":{}}]}`)}
}

func offer() *grant.Offer {
	return &grant.Offer{Scopes: grant.Scopes(), AtMost: time.Hour, Uses: 5, Open: []string{"note"}, Rules: digest(), Node: "worker", Caller: "proxy alice", Turn: requestID}
}

func choice() *grant.Choice {
	return &grant.Choice{Scope: grant.Turn, Until: noon, Uses: 5, Open: []string{"note"}, Digest: digest()}
}
