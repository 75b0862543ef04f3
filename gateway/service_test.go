package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

func catalogueNamed(model *string) func(context.Context) (contract.Catalogue, error) {
	return func(context.Context) (contract.Catalogue, error) {
		return contract.Catalogue{
			Model:   contract.ModelState{Name: *model},
			Servers: []contract.ServerState{{Name: "resources", Ready: true, Tools: 1}},
			Tools:   []contract.Tool{{Name: "resources_list", InputSchema: json.RawMessage(`{"type":"object"}`), Server: "resources"}},
		}, nil
	}
}

func TestHealthNeedsNothing(t *testing.T) {
	a := newAPI(t, &fakeBackend{PingFn: func() error { return errUnexpected }})
	if got := a.want(200, a.do("GET", "/health", "")).raw; got != `{"status":"ok"}`+"\n" {
		t.Error(got)
	}
}

func TestReadinessNamesTheSilentPart(t *testing.T) {
	name := "m"
	a := newAPI(t, &fakeBackend{CatalogueFn: catalogueNamed(&name)})
	a.want(200, a.do("GET", "/health/ready", ""))

	a.backend.PingFn = func() error { return errors.New("secret host is down") }
	reply := a.want(503, a.do("GET", "/health/ready", ""))
	if !strings.Contains(reply.raw, "Temporal does not answer") || strings.Contains(reply.raw, "secret") {
		t.Error(reply.raw)
	}
	b := newAPI(t, &fakeBackend{})
	if reply := b.want(503, b.do("GET", "/health/ready", "")); !strings.Contains(reply.raw, "no worker is answering") {
		t.Error(reply.raw)
	}
	c := newAPI(t, &fakeBackend{CatalogueFn: func(context.Context) (contract.Catalogue, error) {
		return contract.Catalogue{Servers: []contract.ServerState{{Name: "resources", Error: "connection refused"}}}, nil
	}})
	if reply := c.want(503, c.do("GET", "/health/ready", "")); !strings.Contains(reply.raw, "tool server resources is not ready: connection refused") {
		t.Error(reply.raw)
	}
}

func TestReadinessHasTheWorkersProblemsAndNotes(t *testing.T) {
	a := newAPI(t, &fakeBackend{CatalogueFn: func(context.Context) (contract.Catalogue, error) {
		return contract.Catalogue{Problems: []string{"no key"}, Notes: []string{"another model is asked"}}, nil
	}})
	if reply := a.want(503, a.do("GET", "/health/ready", "")); !strings.Contains(reply.raw, `"problems":["no key"],"notes":["another model is asked"]`) {
		t.Error(reply.raw)
	}
	if got := a.Problems(t.Context()); !slices.Equal(got, []string{"no key"}) {
		t.Errorf("problems %q", got)
	}
}

func TestAServerThatRequiresATokenIsReady(t *testing.T) {
	a := newAPI(t, &fakeBackend{CatalogueFn: func(context.Context) (contract.Catalogue, error) {
		return contract.Catalogue{Servers: []contract.ServerState{{Name: "locked", Error: contract.ErrorAuthentication}}}, nil
	}})
	if reply := a.want(200, a.do("GET", "/health/ready", "")); !strings.Contains(reply.raw, `"notes":["tool server locked serves only callers who authenticate"]`) {
		t.Error(reply.raw)
	}
	if reply := a.want(200, a.do("GET", "/tools", "")); !strings.Contains(reply.raw, `"error":"authentication is required"`) {
		t.Error(reply.raw)
	}
}

func TestAnOptionalServerMayBeMissing(t *testing.T) {
	a := newAPI(t, &fakeBackend{CatalogueFn: func(context.Context) (contract.Catalogue, error) {
		return contract.Catalogue{Servers: []contract.ServerState{{Name: "resources", Error: "connection refused", Optional: true}}}, nil
	}})
	for _, path := range []string{"/health/ready", "/tools"} {
		if reply := a.want(200, a.do("GET", path, "")); !strings.Contains(reply.raw, `"error":"connection refused","tools":0,"optional":true`) {
			t.Error(reply.raw)
		}
	}
}

func TestToolsWithoutAny(t *testing.T) {
	a := newAPI(t, &fakeBackend{CatalogueFn: func(context.Context) (contract.Catalogue, error) { return contract.Catalogue{}, nil }})
	if got := a.want(200, a.do("GET", "/tools", "")).raw; got != `{"tools":[],"servers":[],"model":{"name":""}}`+"\n" {
		t.Error(got)
	}
}

func TestRoutesAndOpenAPIAgree(t *testing.T) {
	doc, err := spec()
	if err != nil {
		t.Fatal(err)
	}
	var described, served []string
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			described = append(described, method+" "+path)
		}
	}
	parameter := regexp.MustCompile(`:(\w+)`)
	for _, r := range newAPI(t, &fakeBackend{}).Routes() {
		served = append(served, r.Method+" "+parameter.ReplaceAllString(r.Path, "{$1}"))
	}
	slices.Sort(described)
	slices.Sort(served)
	if !slices.Equal(described, served) {
		t.Errorf("openapi.yaml has\n  %s\nroutes.go has\n  %s", strings.Join(described, "\n  "), strings.Join(served, "\n  "))
	}
}

func TestDocsNeedNothingFromTheInternet(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	page := a.want(200, a.do("GET", "/docs", ""))
	for _, part := range []string{"Agent Stop and Go", "/health", "/conversations", "/openapi.yaml"} {
		if !strings.Contains(page.raw, part) {
			t.Errorf("the page has no %q", part)
		}
	}
	if !strings.HasPrefix(page.header.Get("Content-Type"), "text/html") {
		t.Errorf("Content-Type %q", page.header.Get("Content-Type"))
	}
	for _, match := range regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(page.raw, -1) {
		if !strings.HasPrefix(match[1], "/docs/") {
			t.Errorf("the page loads %s", match[1])
			continue
		}
		if asset := a.want(200, a.do("GET", match[1], "")); asset.raw == "" {
			t.Errorf("%s is empty", match[1])
		}
	}
	a.wantError(404, "no such route", a.do("GET", "/docs/nope.js", ""))
}

func TestTheShortDocsComeFromTheFile(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	reply := a.want(200, a.do("GET", "/docs/json", ""))
	list, _ := reply.at("endpoints").([]any)
	if len(list) != len(a.Routes()) || reply.text("title") != "Agent Stop and Go API" || reply.text("version") != "1.0.0" {
		t.Errorf("%d endpoints of %d: %s", len(list), len(a.Routes()), reply.raw)
	}
	create := slices.IndexFunc(list, func(e any) bool {
		m, _ := e.(map[string]any)
		return m["method"] == "POST" && m["path"] == "/conversations" && m["request"] != nil && m["summary"] != ""
	})
	if create < 0 {
		t.Error(reply.raw)
	}
	yaml := a.want(200, a.do("GET", "/openapi.yaml", ""))
	if yaml.raw != string(gateway.OpenAPI()) || yaml.header.Get("Content-Type") != "application/yaml" {
		t.Error("the file is not what is served")
	}
}

func TestUnknownRoutesAndMethods(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	a.wantError(404, "no such route: GET /nope", a.do("GET", "/nope", ""))
	a.wantError(404, "no such route", a.do("GET", "/conversations/../health", ""))
	for target, allow := range map[string]string{
		"DELETE /conversations": "POST", "PUT /health": "GET", "POST /tools": "GET", "POST /mcp/prompts": "GET", "GET " + messages: "POST",
	} {
		method, path, _ := strings.Cut(target, " ")
		reply := a.do(method, path, "")
		a.wantError(405, "not allowed", reply)
		if !strings.Contains(reply.header.Get("Allow"), allow) {
			t.Errorf("%s: Allow %q", target, reply.header.Get("Allow"))
		}
	}
}

func TestHeadWorksWhereGetDoes(t *testing.T) {
	name := "m"
	a := newAPI(t, &fakeBackend{
		CatalogueFn: catalogueNamed(&name), ResourcesFn: someResources, PromptsFn: somePrompts, ConversationFn: showing, TreeFn: showingTree,
		ListFn: func(service.ListQuery) (service.Page[service.Item], error) { return items(), nil },
	})
	server := httptest.NewServer(a)
	defer server.Close()
	for _, path := range []string{
		"/", "/health", "/tools", "/mcp/resources", "/mcp/prompts", "/conversations", "/conversations/" + someID, treePath, "/docs", "/openapi.yaml",
	} {
		res, err := server.Client().Head(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != 200 {
			t.Errorf("HEAD %s: %d", path, res.StatusCode)
		}
	}
}

func TestSessionIDs(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	for sid, kept := range map[string]bool{
		"my-session_1.2": true, "": false, "../evil sid": false, strings.Repeat("s", 65): false, "é": false,
	} {
		got := a.do("GET", "/health", "", "X-Session-ID: "+sid).header.Get("X-Session-ID")
		if kept && got != sid || !kept && !regexp.MustCompile(`^[0-9a-f]{8}$`).MatchString(got) {
			t.Errorf("%q became %q", sid, got)
		}
	}
}

func TestTheLogOfARequest(t *testing.T) {
	a := newAPI(t, &fakeBackend{ConversationFn: showing})
	a.do("GET", "/conversations/"+someID, "", "X-Session-ID: s-1", "Authorization: Bearer canary")
	var line map[string]any
	if err := json.Unmarshal(a.logs.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"level": "INFO", "method": "GET", "route": "/conversations/:id", "path": "/conversations/" + someID,
		"status": 200.0, "sid": "s-1", "conversation": someID,
	} {
		if line[key] != want {
			t.Errorf("%s: %v, expected %v", key, line[key], want)
		}
	}
	if line["latency"] == nil || strings.Contains(a.logs.String(), "canary") {
		t.Error(a.logs)
	}
}

func TestNewServerHasLimitsButNoWriteTimeout(t *testing.T) {
	s := gateway.NewServer(newAPI(t, &fakeBackend{}))
	if s.ReadHeaderTimeout == 0 || s.ReadTimeout == 0 || s.IdleTimeout == 0 || s.MaxHeaderBytes == 0 || s.WriteTimeout != 0 {
		t.Errorf("%+v", s)
	}
}
