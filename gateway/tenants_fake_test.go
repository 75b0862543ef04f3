package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/contract/later"
)

// badges are a way to prove who calls: the header has the identity.
type badges struct{}

const headerBadge = "Badge"

func (badges) Shown(r *http.Request) bool { return r.Header.Get(headerBadge) != "" }

func (badges) Identify(r *http.Request) (contract.Identity, error) {
	var i contract.Identity
	err := json.Unmarshal([]byte(r.Header.Get(headerBadge)), &i)
	return i, err
}

func (badges) String() string { return "a badge" }

var badgesOnly = identity.Ways{badges{}}

// badge returns the header that proves an identity.
func badge(i contract.Identity) string {
	data, _ := json.Marshal(i) // texts
	return headerBadge + ": " + string(data)
}

func person(subject string, scopes ...string) contract.Identity {
	return contract.Identity{Subject: subject, Issuer: "keys", Scopes: scopes}
}

func inGroup(i contract.Identity, group string) contract.Identity {
	i.Groups = []string{group}
	return i
}

// sharesWith reports whether a caller is in a group of the owner.
func (x tenant) sharesWith(i contract.Identity) bool {
	return len(x.owner.Groups) > 0 && i.Issuer == x.owner.Issuer && i.MemberOf(x.owner.Groups[0])
}

// in reports whether a list has the conversation.
func (x tenant) in(w service.Whose) bool {
	return w.Owner == "" || w.Owner == x.owner.Key() || slices.ContainsFunc(x.owner.GroupKeys(), func(group string) bool { return slices.Contains(w.Groups, group) })
}

// tenant is a conversation of somebody, with an approval that waits.
type tenant struct {
	id, uuid string
	owner    contract.Identity
	secret   string // is in everything that the conversation has
	runs     bool   // a turn goes on, until it gets a signal
}

var (
	ofAlice = tenant{"a1a1a1a1-1111-4111-8111-a1a1a1a1a1a1", "a2a2a2a2-2222-4222-8222-a2a2a2a2a2a2", inGroup(person("alice"), "Shop"), "violet", false}
	ofBob   = tenant{"b1b1b1b1-1111-4111-8111-b1b1b1b1b1b1", "b2b2b2b2-2222-4222-8222-b2b2b2b2b2b2", person("bob"), "crimson", false}
	// runningOfAlice takes messages; the others are over. No list has it.
	runningOfAlice = tenant{"c1c1c1c1-1111-4111-8111-c1c1c1c1c1c1", "c2c2c2c2-2222-4222-8222-c2c2c2c2c2c2", inGroup(person("alice"), "Shop"), "violet", true}
	ofNone         = tenant{id: "e1e1e1e1-1111-4111-8111-e1e1e1e1e1e1", uuid: "e2e2e2e2-2222-4222-8222-e2e2e2e2e2e2"}
	tenants        = []tenant{ofAlice, ofBob}
	// deleted was alice's.
	deleted = tenant{id: "d1d1d1d1-1111-4111-8111-d1d1d1d1d1d1", uuid: "d2d2d2d2-2222-4222-8222-d2d2d2d2d2d2", owner: person("alice")}
)

// tombstones has the one of the deleted conversation.
type tombstones struct{}

func (tombstones) Tombstone(_ context.Context, id string) (*deletion.Tombstone, error) {
	if id != deleted.id {
		return nil, nil
	}
	return &deletion.Tombstone{
		ConversationID: id, Owner: deleted.owner.Key(), DeletedAt: epoch, Cause: deletion.CauseRequest, By: "alice", Identity: deleted.owner,
		Decisions: []deletion.Decision{{UUID: deleted.uuid, Tool: "add", Decision: contract.Approved, DecidedAt: epoch}},
	}, nil
}

// ofSum is the hash of a file that every conversation has.
var (
	file  = []byte("a file")
	ofSum = contract.Hash(file)
)

const knownRequest = "c0c0c0c0-3333-4333-8333-c0c0c0c0c0c0"

// tenancy is a backend with the conversations of the tenants, and those that were started. All
// are completed, so that streams end, but the one that runs, which is completed by a signal.
type tenancy struct {
	*fakeBackend
	started *sync.Map // tenant by ID
}

func newTenancyAPI(t *testing.T) *api {
	a := newAPI(t, &fakeBackend{}, func(d *gateway.Deps) {
		d.Backend, d.Callers = tenancy{d.Backend.(*fakeBackend), &sync.Map{}}, badgesOnly
		d.SharedGroups = map[string][]string{"keys": {"Shop"}}
		d.Graves = tombstones{}
		d.Methods = []identity.Method{{Type: "oidc", Issuer: "https://login.example.com"}}
	}, withCodec(t))
	if _, err := a.blobs.Put(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	return a
}

func tenantOf(find func(tenant) bool) (tenant, bool) {
	for _, x := range tenants {
		if find(x) {
			return x, true
		}
	}
	return tenant{}, false
}

func (t tenancy) of(id string) (tenant, error) {
	if x, ok := t.started.Load(id); ok {
		return x.(tenant), nil
	}
	if id == runningOfAlice.id {
		return runningOfAlice, nil
	}
	x, ok := tenantOf(func(x tenant) bool { return x.id == id })
	if !ok {
		return x, service.NoConversation(id)
	}
	return x, nil
}

func approvalOf(uuid string) (tenant, error) {
	x, ok := tenantOf(func(x tenant) bool { return x.uuid == uuid })
	if !ok {
		return x, service.NoApproval(uuid)
	}
	return x, nil
}

func (x tenant) view(requestID string) contract.ConversationView {
	v := viewOf(x.id)
	v.Owner, v.Status, v.ContextID, v.Task = x.owner, contract.StatusCompleted, "context", true
	if x.runs {
		v.Status, v.Running = contract.StatusActive, true
	}
	v.Transcript.Tail = []contract.Message{{
		ID: "m", Role: contract.RoleUser, Content: contract.Inline(x.secret), DraftID: knownRequest, CreatedAt: epoch,
		Media: []contract.Media{{Blob: contract.NewBlob(file), MIMEType: "text/plain", Name: x.secret}},
	}}
	if requestID == knownRequest {
		v.Request = &contract.Request{ID: requestID, Settled: true, Result: &contract.Result{Response: contract.Inline(x.secret)}}
	}
	return v
}

func (x tenant) pending() contract.PendingApproval {
	p := contract.PendingApproval{UUID: x.uuid, ConversationID: x.id, ToolName: x.secret, CreatedAt: epoch}
	return p
}

func (t tenancy) Owner(_ context.Context, id string) (service.Owner, error) {
	x, err := t.of(id)
	return service.OwnerOf(x.owner), err
}

func (t tenancy) Conversation(_ context.Context, id, requestID string) (contract.ConversationView, error) {
	x, err := t.of(id)
	if err != nil {
		return contract.ConversationView{}, err
	}
	return x.view(requestID), nil
}

func (t tenancy) Admit(ctx context.Context, id string, q contract.ConversationQuery) (contract.ConversationView, error) {
	v, err := t.Conversation(ctx, id, "")
	if !v.Running { // it has the message already
		v.Request = &contract.Request{ID: q.RequestID, Settled: true, Result: &contract.Result{}}
	}
	return v, err
}

func (t tenancy) Await(ctx context.Context, id string, requestIDs []string) (contract.AwaitResult, error) {
	v, err := t.Conversation(ctx, id, "")
	out := contract.AwaitResult{Conversation: v}
	for _, r := range requestIDs {
		out.Settled = append(out.Settled, contract.Request{ID: r, Settled: true, Result: &contract.Result{}})
	}
	return out, err
}

func (t tenancy) Start(_ context.Context, in service.StartInput) (service.StartResult, error) {
	id := in.Conversation.ID
	if _, err := t.of(id); err == nil {
		return service.StartResult{Existed: true, CreatedAt: epoch, Fingerprint: in.Fingerprint}, nil
	}
	t.started.Store(id, tenant{id: id, owner: in.Conversation.Owner, secret: "new"})
	return service.StartResult{CreatedAt: epoch}, nil
}

func (t tenancy) Signal(_ context.Context, id, _ string, _ any) error {
	x, err := t.of(id)
	if x.runs {
		x.runs = false
		t.started.Store(id, x)
	}
	return err
}

// changed reports whether a conversation got a signal.
func (t tenancy) changed(x tenant) bool {
	_, ok := t.started.Load(x.id)
	return ok
}

func (t tenancy) Tree(_ context.Context, id string) (contract.TreeView, error) {
	x, err := t.of(id)
	return contract.TreeView{ConversationID: id, Node: contract.Node{Name: x.secret, Type: contract.NodeLLM}}, err
}

func (t tenancy) Delete(_ context.Context, in deletion.Input) (deletion.Result, error) {
	x, err := t.of(in.ConversationID)
	return deletion.Result{Tombstone: &deletion.Tombstone{
		ConversationID: x.id, Owner: x.owner.Key(), DeletedAt: epoch, Cause: in.Cause, By: in.By, Identity: in.Identity,
	}}, err
}

func (tenancy) Subject(_ context.Context, uuid string) (service.Subject, error) {
	x, err := approvalOf(uuid)
	return service.Subject{ConversationID: x.id, Owner: service.OwnerOf(x.owner)}, err
}

func (tenancy) Approval(_ context.Context, uuid string) (contract.ApprovalView, error) {
	x, err := approvalOf(uuid)
	return contract.ApprovalView{Pending: x.pending()}, err
}

func (tenancy) Decide(_ context.Context, uuid string, in contract.DecideSignal) (*contract.ApprovalResult, error) {
	x, err := approvalOf(uuid)
	return &contract.ApprovalResult{
		UUID: uuid, ConversationID: x.id, Decision: contract.Approved, By: in.By, RequestID: in.RequestID, Reason: x.secret, DecidedAt: epoch,
	}, err
}

func (tenancy) Later(_ context.Context, uuid string, _ later.Deferral) error {
	_, err := approvalOf(uuid)
	return err
}

func (tenancy) List(_ context.Context, q service.ListQuery) (page service.Page[service.Item], err error) {
	for _, x := range tenants {
		if x.in(q.Whose) && strings.HasPrefix(x.id, q.Prefix) {
			page.Items = append(page.Items, service.Item{ID: x.id, Title: x.secret, Status: contract.StatusCompleted, CreatedAt: epoch, UpdatedAt: epoch})
		}
	}
	return page, nil
}

func (t tenancy) Summary(ctx context.Context, w service.Whose) (service.Summary, error) {
	page, err := t.List(ctx, service.ListQuery{Whose: w})
	return service.Summary{Total: int64(len(page.Items)), Completed: int64(len(page.Items))}, err
}

func (tenancy) Tasks(_ context.Context, q service.TaskQuery) (page service.TaskPage, err error) {
	for _, x := range tenants {
		if x.in(q.Whose) {
			page.IDs, page.Total = append(page.IDs, x.id), page.Total+1
		}
	}
	return page, nil
}

func (t tenancy) RunningIn(ctx context.Context, _ string, w service.Whose, _ int) ([]string, error) {
	page, err := t.Tasks(ctx, service.TaskQuery{Whose: w})
	return page.IDs, err
}

// Waiting lists all whatever the query says, like a search that lags.
func (tenancy) Waiting(context.Context, service.ListQuery) (page service.Page[service.WaitingItem], err error) {
	for _, x := range tenants {
		page.Items = append(page.Items, service.WaitingItem{UUID: x.uuid, ConversationID: x.id, ToolName: x.secret, CreatedAt: epoch, Owner: service.OwnerOf(x.owner)})
	}
	return page, nil
}

func (t tenancy) SetPush(_ context.Context, id string, c service.PushConfig) (service.PushConfig, error) {
	_, err := t.of(id)
	return c, err
}

func (t tenancy) PushConfigs(_ context.Context, id string) ([]service.PushConfig, error) {
	x, err := t.of(id)
	return []service.PushConfig{{ID: "p", URL: "https://hooks.example.com/" + x.secret}}, err
}

func (t tenancy) DeletePush(_ context.Context, id, _ string) error {
	_, err := t.of(id)
	return err
}

func (tenancy) Catalogue(context.Context) (contract.Catalogue, error) {
	return contract.Catalogue{}, nil
}
func (tenancy) Resources(context.Context) (contract.ResourceCatalogue, error) {
	return contract.ResourceCatalogue{}, nil
}
func (tenancy) Prompts(context.Context) (contract.PromptCatalogue, error) {
	return contract.PromptCatalogue{}, nil
}

// about is a request about a tenant's conversation and its approval.
type about struct {
	name, method, path, body string
	scope, object            string
	writes                   bool
	governs                  bool // writes what groups do not
}

// of returns the request for a tenant.
func (r about) of(x tenant) about {
	ids := strings.NewReplacer(":id", x.id, ":short", x.id[:8], ":uuid", x.uuid, ":sha256", ofSum, ":request_id", knownRequest, ":model", "helper", ":response", "resp_"+strings.ReplaceAll(x.id+knownRequest, "-", ""), "/docs/*", "/docs/swagger-ui.css")
	r.path, r.body = ids.Replace(r.path), ids.Replace(r.body)
	return r
}

// bodies of the routes that need one.
var bodies = map[string]string{
	"POST /conversations":              `{}`,
	"POST /conversations/:id/messages": `{"message":"hello"}`,
	"POST /conversations/:id/cancel":   `{}`,
	"PATCH /conversations/:id":         `{"title":"x"}`,
	"POST /conversations/:id/close":    `{}`,
	"POST /approvals/:uuid":            `{"approved":true}`,
	"POST /commands":                   `{"text":"!help"}`,
	"POST /approvals/:uuid/later":      `{"for":"1h"}`,
	"POST /ag-ui":                      `{"threadId":":id","runId":"r","messages":[],"tools":[],"context":[],"state":{},"forwardedProps":{}}`,
	"POST /v1/chat/completions":        `{"messages":[{"role":"user","content":"hello"}]}`,
	"POST /v1/responses":               `{"input":"hello"}`,
	"POST /mcp":                        initialize,
	"POST /a2a":                        `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":":id"}}`,
}

// requests are one for each route, and those of the protocols whose address says little.
func requests(routes []gateway.Route) []about {
	out := []about{{name: "docs files", method: "GET", path: "/docs/*", scope: contract.ScopeRead}}
	for _, r := range routes {
		if strings.HasPrefix(r.Path, "/auth/") || strings.HasPrefix(r.Path, "/slack/") || strings.HasPrefix(r.Path, "/witness/") { // what a login does is tested with browsers, and a witness with logs
			continue
		}
		key := r.Method + " " + r.Path
		out = append(out, about{
			name: key, method: r.Method, path: r.Path, body: bodies[key], scope: r.Scope, object: r.Object,
			writes:  r.Method != "GET" && r.Scope == contract.ScopeConverse && r.Object != "" && (r.Method == "DELETE" || !strings.HasPrefix(r.Path, "/v1/")), // a response that is over is not cancelled
			governs: r.Method == "DELETE" && r.Path != "/mcp",
		})
	}
	run := func(name, rest string, writes bool) {
		out = append(out, about{name: name, method: "POST", path: "/ag-ui", object: "thread", scope: "any", writes: writes,
			body: `{"threadId":":id","runId":"r","tools":[],"context":[],"state":{},"forwardedProps":{},` + rest + `}`})
	}
	run("run with a message", `"messages":[{"id":"m1","role":"user","content":"x"}]`, true)
	run("run with an answer", `"messages":[],"resume":[{"interruptId":":uuid","status":"resolved","payload":{"approved":true}}]`, false)
	command := func(text, scope, object string, writes bool) {
		out = append(out, about{name: text, method: "POST", path: "/commands", object: object, scope: scope, writes: writes, governs: text == "!delete",
			body: `{"text":"` + text + `","conversation_id":":id"}`})
	}
	command("!list", contract.ScopeRead, "", false)
	command("!inbox", contract.ScopeRead, "", false)
	command("!use :id", contract.ScopeRead, "conversation", false)
	command("!use #:short", contract.ScopeRead, "conversation", false)
	command("!tree", contract.ScopeRead, "conversation", false)
	command("!cancel", contract.ScopeConverse, "conversation", true)
	command("!delete", contract.ScopeConverse, "conversation", true)
	command("!approve :uuid", "any", "approval", true)
	command("!reject :uuid", "any", "approval", true)
	command("!later :uuid 2h", "any", "approval", true)
	for _, query := range []string{"q=violet", "id=a1a1", "session_id=s", "status=active"} {
		out = append(out, about{name: "list " + query, method: "GET", path: "/conversations?" + query, scope: contract.ScopeRead})
	}
	out = append(out, about{name: "an export to read", method: "GET", path: "/conversations/:id/export?format=markdown", object: "conversation", scope: contract.ScopeRead})
	out = append(out, about{name: "a short ID", method: "GET", path: "/conversations/:short", object: "conversation", scope: contract.ScopeRead})
	for _, r := range taskWrites() {
		r.writes = false // over before it is written
		out = append(out, r)
	}
	rpc := func(method, params string, writes bool) { out = append(out, rpcAbout(method, params, writes, writes)) }
	rpc("SubscribeToTask", `{"id":":id"}`, false)
	rpc("tasks/get", `{"id":":id"}`, false)
	rpc("tasks/resubscribe", `{"id":":id"}`, false)
	rpc("CreateTaskPushNotificationConfig", `{"taskId":":id","url":"https://a.example"}`, true)
	rpc("GetTaskPushNotificationConfig", `{"taskId":":id","id":"p"}`, true)
	rpc("ListTaskPushNotificationConfigs", `{"taskId":":id"}`, true)
	rpc("DeleteTaskPushNotificationConfig", `{"taskId":":id","id":"p"}`, true)
	rpc("tasks/pushNotificationConfig/set", `{"taskId":":id","pushNotificationConfig":{"url":"https://a.example"}}`, true)
	rpc("tasks/pushNotificationConfig/get", `{"id":":id","pushNotificationConfigId":"p"}`, true)
	rpc("tasks/pushNotificationConfig/list", `{"id":":id"}`, true)
	rpc("tasks/pushNotificationConfig/delete", `{"id":":id","pushNotificationConfigId":"p"}`, true)
	return out
}

// rpcAbout is a call of A2A.
func rpcAbout(method, params string, writes, governs bool) about {
	return about{name: method, method: "POST", path: "/a2a", object: "conversation", scope: "any", writes: writes, governs: governs,
		body: `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`}
}

// taskWrites are the calls of A2A that write to a task while it runs.
func taskWrites() (out []about) {
	message := `{"message":{"messageId":"m1","role":"ROLE_USER","taskId":":id","parts":[{"text":"hello"}]}}`
	old := `{"message":{"kind":"message","messageId":"m1","role":"user","taskId":":id","parts":[{"kind":"text","text":"hello"}]}}`
	dialect := `{"taskId":":id","message":{"role":"user","parts":[{"type":"text","text":"hello"}]}}`
	for _, r := range [][2]string{
		{"SendMessage", message}, {"SendStreamingMessage", message}, {"message/send", old}, {"message/stream", old}, {"message/send", dialect},
		{"CancelTask", `{"id":":id"}`}, {"tasks/cancel", `{"id":":id"}`},
	} {
		out = append(out, rpcAbout(r[0], r[1], true, false))
	}
	return out
}

// ownedScript is a backend whose conversations belong to somebody. It keeps what it gets.
type ownedScript struct {
	*fakeBackend
	owner   string
	decided *contract.DecideSignal
	started *contract.ConversationInput
}

func (s *ownedScript) Owner(context.Context, string) (service.Owner, error) {
	return service.Owner{Key: s.owner}, nil
}

func (s *ownedScript) Subject(context.Context, string) (service.Subject, error) {
	return service.Subject{ConversationID: someID, Owner: service.Owner{Key: s.owner}}, nil
}

func (s *ownedScript) Start(_ context.Context, in service.StartInput) (service.StartResult, error) {
	*s.started = in.Conversation
	return service.StartResult{}, nil
}

func (s *ownedScript) Decide(_ context.Context, uuid string, in contract.DecideSignal) (*contract.ApprovalResult, error) {
	*s.decided = in
	return &contract.ApprovalResult{UUID: uuid, ConversationID: someID, Decision: contract.Approved, RequestID: in.RequestID, DecidedAt: epoch}, nil
}
