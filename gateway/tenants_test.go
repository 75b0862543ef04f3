package gateway_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

// The table of the routes and openapi.yaml say the same.
func TestTheScopesOfRoutesAreDocumented(t *testing.T) {
	doc, err := spec()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range newAPI(t, &fakeBackend{}).Routes() {
		path := strings.NewReplacer(":id", "{id}", ":uuid", "{uuid}", ":sha256", "{sha256}", ":request_id", "{request_id}", ":model", "{model}", ":response", "{response}").Replace(r.Path)
		op := doc.Paths.Value(path).GetOperation(r.Method)
		if op == nil {
			t.Errorf("%s %s is not documented", r.Method, r.Path)
			continue
		}
		object, _ := op.Extensions["x-object"].(string)
		if op.Extensions["x-scope"] != r.Scope || object != r.Object {
			t.Errorf("%s %s: x-scope %v, x-object %q; the table says %s, %q", r.Method, r.Path, op.Extensions["x-scope"], object, r.Scope, r.Object)
		}
		if (r.Scope == "none") != (op.Responses.Value("401") == nil) {
			t.Errorf("%s %s: the scope is %s, and 401 does not fit", r.Method, r.Path, r.Scope)
		}
	}
}

// verdict is what becomes of a request: 0 if it is allowed, or the status of its refusal.
func verdict(r about, i contract.Identity, x tenant) int {
	started := i.Key() == x.owner.Key() && x.id != ofNone.id
	own := started || x.sharesWith(i)
	exists := x.id != ofNone.id
	sees := exists && (i.Has("read:all") || own && (i.Has("read") || i.Has("converse")))
	decides := exists && (i.Has("approve:all") || started && i.Has("approve"))
	switch {
	case r.scope == "none":
		return 0
	case !i.Authenticated():
		return 401
	case r.scope != "any" && !i.May(r.scope):
		return 403
	case r.method == "DELETE" && r.object == "" && r.path != "/mcp", strings.HasPrefix(r.path, "/grants/"): // a deputy or a grant, and there is none
		return 404
	case r.object == "conversation" && !sees, r.object == "approval" && !sees && !decides:
		return 404
	case r.object == "approval" && r.method == "POST" && !decides: // but sees it
		return 403
	case r.object == "thread" && !sees && r.writes && !i.Has("converse"): // it is a new one
		return 403
	case r.object == "conversation" && r.writes && (!i.Has("converse") || !own && !i.Has("operate") || r.governs && !started && !i.Has("operate")):
		return 403
	}
	return 0
}

// refusal returns the status of a refusal, or 0.
func (r reply) refusal() int {
	switch {
	case r.status == 401, r.status == 403, r.status == 404:
		return r.status
	case strings.Contains(r.raw, `"code":-32001`), strings.Contains(r.raw, `"message":"Task not found: `): // in the older dialect
		return 404
	case strings.Contains(r.raw, `"code":-31403`): // in a stream of 0.3
		return 403
	}
	return 0
}

// identities are callers with every combination of rights that matters.
var identities = map[string]contract.Identity{
	"nobody":               {},
	"alice without scopes": person("alice"),
	"alice reads":          person("alice", "read"),
	"alice writes":         person("alice", "converse"),
	"alice approves":       person("alice", "approve"),
	"alice":                person("alice", "converse", "read", "approve"),
	"bob":                  person("bob", "converse", "read", "approve"),
	"another alice":        {Subject: "alice", Issuer: "https://login.example.com", Scopes: []string{"converse", "read", "approve"}},
	"a colleague":          inGroup(person("carl", "converse", "read", "approve"), "Shop"),
	"a colleague reads":    inGroup(person("carl", "read"), "Shop"),
	"in a similar group":   inGroup(person("carl", "converse", "read", "approve"), "shop"),
	"in it elsewhere":      inGroup(contract.Identity{Subject: "carl", Issuer: "proxy", Scopes: []string{"converse", "read"}}, "Shop"),
	"sees all":             person("carol", "read:all"),
	"sees all and writes":  person("carol", "read:all", "converse"),
	"operates":             person("carol", "read:all", "converse", "operate"),
	"operates blindly":     person("carol", "operate", "converse"),
	"approves all":         person("dora", "read", "approve:all"),
	"does all":             person("dora", contract.Scopes()...),
}

// ask sends a request about a tenant.
func (a *api) ask(r about, i contract.Identity, x tenant) reply {
	a.t.Helper()
	a.Backend.(tenancy).started.Clear()
	r = r.of(x)
	var headers []string
	if i.Authenticated() {
		headers = append(headers, badge(i))
	}
	return a.do(r.method, r.path, r.body, headers...)
}

func TestEveryRouteForEveryCaller(t *testing.T) {
	t.Parallel()
	a := newTenancyAPI(t)
	n := 0
	for _, r := range requests(a.Routes()) {
		for _, name := range slices.Sorted(maps.Keys(identities)) {
			i := identities[name]
			for _, x := range []tenant{ofAlice, ofNone} {
				n++
				if got, want := a.ask(r, i, x), verdict(r, i, x); got.refusal() != want {
					t.Errorf("%s, %s, conversation of %q: %d %s, want %d", r.name, name, x.owner.Subject, got.status, got.raw, want)
				}
			}
		}
	}
	t.Logf("%d requests", n)
}

// Whoever may not write to a task that runs changes nothing of it, over A2A too.
func TestWritesToARunningTaskForEveryCaller(t *testing.T) {
	t.Parallel()
	a := newTenancyAPI(t)
	for _, r := range taskWrites() {
		for _, name := range slices.Sorted(maps.Keys(identities)) {
			got, want := a.ask(r, identities[name], runningOfAlice), verdict(r, identities[name], runningOfAlice)
			if got.refusal() != want {
				t.Errorf("%s, %s: %d %s, want %d", r.name, name, got.status, got.raw, want)
			}
			if changed := a.Backend.(tenancy).changed(runningOfAlice); changed != (want == 0) {
				t.Errorf("%s, %s: the task was changed: %v; %s", r.name, name, changed, got.raw)
			}
		}
	}
}

// timestamps are those of AG-UI events.
var timestamps = regexp.MustCompile(`"timestamp":\d+`)

// What somebody may not see looks like what does not exist, in every byte but the ID.
func TestWhatOthersHaveLooksLikeWhatDoesNotExist(t *testing.T) {
	t.Parallel()
	a := newTenancyAPI(t)
	var pairs []string
	for _, x := range []tenant{ofAlice, runningOfAlice, deleted, ofNone} {
		for _, id := range []string{x.id, x.uuid, strings.ReplaceAll(x.id, "-", ""), x.id[:8]} {
			pairs = append(pairs, id, "ID")
		}
	}
	ids := strings.NewReplacer(pairs...)
	look := func(r reply) string {
		h := r.header.Clone()
		for _, changes := range []string{"X-Session-Id", "Date"} {
			h.Del(changes)
		}
		return fmt.Sprint(r.status, h, timestamps.ReplaceAllString(ids.Replace(r.raw), ""))
	}
	for _, r := range requests(a.Routes()) {
		if r.object == "" || r.object == "thread" && r.writes { // it starts a conversation of bob's
			continue
		}
		for _, i := range []contract.Identity{identities["bob"], identities["another alice"], identities["operates blindly"], identities["in a similar group"], identities["in it elsewhere"]} {
			unknown := look(a.ask(r, i, ofNone))
			for _, x := range []tenant{ofAlice, runningOfAlice, deleted} {
				if others := look(a.ask(r, i, x)); others != unknown {
					t.Errorf("%s: of alice\n%s\nunknown\n%s", r.name, others, unknown)
				}
			}
		}
	}
}

// Whatever one tenant asks, nothing of the other is in the answer.
func TestTenantsGetNothingOfEachOther(t *testing.T) {
	t.Parallel()
	a := newTenancyAPI(t)
	bob := identities["bob"]
	for _, r := range append(requests(a.Routes()),
		about{name: "list", method: "GET", path: "/conversations?include=messages"},
		about{name: "tasks", method: "POST", path: "/a2a", body: `{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"contextId":"context"}}`},
		about{name: "tasks of 0.3", method: "POST", path: "/a2a", body: `{"jsonrpc":"2.0","id":1,"method":"tasks/list","params":{}}`},
		about{name: "a message in a context", method: "POST", path: "/a2a", body: `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","contextId":"context","role":"ROLE_USER","parts":[{"text":"x"}]}}}`},
		about{name: "an answer by approval", method: "POST", path: "/a2a", body: `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"type":"agent-stop-and-go/approval-answer","uuid":":uuid","approved":true}}]}}}`},
	) {
		for _, x := range []tenant{ofBob, ofAlice, runningOfAlice, ofNone} {
			got := a.ask(r, bob, x)
			if strings.Contains(got.raw, ofAlice.secret) || strings.Contains(fmt.Sprint(got.header), ofAlice.secret) {
				t.Errorf("%s: %s", r.name, got.raw)
			}
			if x.id != ofAlice.id && strings.Contains(got.raw, ofAlice.id) {
				t.Errorf("%s names a conversation of alice: %s", r.name, got.raw)
			}
		}
	}
	if got := a.ask(about{method: "GET", path: "/conversations"}, bob, ofNone); !strings.Contains(got.raw, ofBob.secret) || got.at("summary", "total") != 1.0 {
		t.Errorf("bob does not get his own: %s", got.raw)
	}
}

// A colleague finds what the group shares in every list, and nothing else.
func TestWhatAGroupSharesIsInItsLists(t *testing.T) {
	t.Parallel()
	a := newTenancyAPI(t)
	for _, r := range []about{
		{method: "GET", path: "/conversations"}, {method: "GET", path: "/approvals"},
		{method: "POST", path: "/a2a", body: `{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}`},
	} {
		for name, want := range map[string]bool{"a colleague": true, "in a similar group": false, "in it elsewhere": false} {
			got := a.ask(r, identities[name], ofNone)
			if strings.Contains(got.raw, ofAlice.secret) != want || strings.Contains(got.raw, ofBob.secret) || got.status != 200 {
				t.Errorf("%s %s by %s: %d %s", r.method, r.path, name, got.status, got.raw)
			}
		}
	}
}

// The members of a shared group do not become the owner's other groups: only what is configured is recorded.
func TestANewConversationBelongsToTheSharedGroupsOfItsStarter(t *testing.T) {
	for _, i := range []contract.Identity{
		{Subject: "alice", Issuer: "keys", Groups: []string{"Office", "Shop"}, Scopes: []string{"converse", "read"}},
		{Subject: "alice", Issuer: "proxy", Groups: []string{"Office", "Shop"}, Scopes: []string{"converse", "read"}},
	} {
		a := newTenancyAPI(t)
		id := a.want(201, a.do("POST", "/conversations", `{}`, badge(i))).text("conversation", "id")
		x, _ := a.Backend.(tenancy).of(id)
		if shared := slices.Equal(x.owner.Groups, []string{"Shop"}); shared != (i.Issuer == "keys") || !shared && x.owner.Groups != nil {
			t.Errorf("%s: belongs to %v", i.Issuer, x.owner.Groups)
		}
	}
}

// Random callers with random scopes ask for random things.
func TestRandomCallersGetWhatTheTableSays(t *testing.T) {
	t.Parallel()
	a := newTenancyAPI(t)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 1))
	all := requests(a.Routes())
	for range 500 {
		i := contract.Identity{Subject: []string{"alice", "bob", "eve"}[random.IntN(3)], Issuer: []string{"keys", "keys", "proxy"}[random.IntN(3)]}
		if random.IntN(2) == 0 {
			i = inGroup(i, []string{"Shop", "shop", "Office"}[random.IntN(3)])
		}
		for _, scope := range contract.Scopes() {
			if random.IntN(2) == 0 {
				i.Scopes = append(i.Scopes, scope)
			}
		}
		r, x := all[random.IntN(len(all))], []tenant{ofAlice, ofBob, ofNone}[random.IntN(3)]
		got, want := a.ask(r, i, x), verdict(r, i, x)
		if got.refusal() != want {
			t.Fatalf("seed %d: %s by %+v, conversation of %q: %d %s, want %d", seed, r.name, i, x.owner.Subject, got.status, got.raw, want)
		}
		for _, other := range tenants {
			if other.owner.Key() != i.Key() && !other.sharesWith(i) && !i.Has("read:all") && !i.Has("approve:all") && strings.Contains(got.raw, other.secret) {
				t.Fatalf("seed %d: %s by %+v has a secret of %s: %s", seed, r.name, i, other.owner.Subject, got.raw)
			}
		}
	}
}

// A key, a message ID and a thread are their caller's own: of others they are others, and the
// same again when they are sent again.
func TestWhatACallerNamesIsItsOwn(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]struct{ path, body string }{
		"a key":     {"/conversations", `{}`},
		"a message": {"/a2a", `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","contextId":"c","role":"ROLE_USER","parts":[{"text":"x"}]},"configuration":{"returnImmediately":true}}}`},
		"a thread":  {"/ag-ui", `{"threadId":"t","runId":"r","messages":[{"id":"m1","role":"user","content":"x"}],"tools":[],"context":[],"state":{},"forwardedProps":{}}`},
		"a UUID":    {"/ag-ui", `{"threadId":"` + ofNone.id + `","runId":"r","messages":[{"id":"m1","role":"user","content":"x"}],"tools":[],"context":[],"state":{},"forwardedProps":{}}`},
	} {
		a := newTenancyAPI(t)
		for _, i := range []contract.Identity{identities["alice"], identities["bob"], identities["another alice"]} {
			for n := range 2 { // a token for tools may be another one by then
				a.do("POST", r.path, r.body, badge(i), "Idempotency-Key: k", fmt.Sprint("X-Tool-Authorization: Bearer ", n))
			}
		}
		owners := map[string]int{}
		a.Backend.(tenancy).started.Range(func(_, x any) bool { owners[x.(tenant).owner.Key()]++; return true })
		if want := map[string]int{"keys alice": 1, "keys bob": 1, "https://login.example.com alice": 1}; !maps.Equal(owners, want) {
			t.Errorf("%s: conversations started: %v", name, owners)
		}
	}
}

func TestWithoutWaysToProveNothingIsAsked(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	got := a.want(http.StatusOK, a.do("GET", "/me", "", "Authorization: Bearer x", badge(identities["alice"])))
	if strings.TrimSpace(got.raw) != `{"authenticated":false}` {
		t.Errorf("got %s", got.raw)
	}
}
