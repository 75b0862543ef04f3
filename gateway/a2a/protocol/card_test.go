package protocol_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"agent-stop-and-go/gateway/a2a/protocol"
	"agent-stop-and-go/workflows/contract"
)

func input() protocol.CardInput {
	return protocol.CardInput{
		Name: "stop-and-go", Description: "Does things.", Version: "2.1.0", PublicURL: "https://agents.example.com/team/",
		Provider: &a2a.AgentProvider{Org: "Example", URL: "https://example.com"},
		Tools: []contract.Tool{
			{Name: "resources_list", Description: "Lists.", Server: "resources"},
			{Name: "resources_remove", Server: "resources", DestructiveHint: true},
			{Name: "loose"},
		},
		Peers:     []contract.Peer{{Name: "helper", Description: "Helps.", Destructive: true}},
		Streaming: true, Push: true,
		Extensions: []a2a.AgentExtension{{URI: uriX, Description: "x"}},
		InputModes: []string{"text/plain", "image/*"},
		SecuritySchemes: a2a.NamedSecuritySchemes{
			"bearer": a2a.HTTPAuthSecurityScheme{Scheme: "Bearer"},
		},
		SecurityRequirements: a2a.SecurityRequirementsOptions{{"bearer": {}}},
	}
}

func serves(card *a2a.AgentCard) *fake {
	return &fake{CardFn: func(context.Context) (*a2a.AgentCard, error) { return card, nil }}
}

func fetch(s *protocol.Server, method string, header ...string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, "/.well-known/agent-card.json", nil)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.Card(w, req)
	return w
}

func TestOneCardForAllDialects(t *testing.T) {
	w := fetch(protocol.New(serves(protocol.Card(input())), silent), "GET")
	var card map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &card); err != nil || w.Code != 200 {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	for member, want := range map[string]string{
		// members of both versions
		"name": `"stop-and-go"`, "description": `"Does things."`, "version": `"2.1.0"`,
		"provider":          `{"organization":"Example","url":"https://example.com"}`,
		"documentationUrl":  `"https://agents.example.com/team/docs"`,
		"defaultInputModes": `["text/plain","image/*"]`, "defaultOutputModes": `["text/plain","application/json"]`,
		"capabilities": `{"streaming":true,"pushNotifications":true,"extensions":[{"uri":"` + uriX + `","description":"x"}]}`,
		"skills": `[
			{"id":"resources_list","name":"resources_list","description":"Lists.","tags":["resources"]},
			{"id":"resources_remove","name":"resources_remove","description":"resources_remove","tags":["resources","destructive","needs-approval"]},
			{"id":"loose","name":"loose","description":"loose","tags":["tool"]},
			{"id":"a2a_helper","name":"a2a_helper","description":"Helps.","tags":["agent","destructive","needs-approval"]}]`,
		// members of 1.0
		"supportedInterfaces": `[
			{"url":"https://agents.example.com/team/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"},
			{"url":"https://agents.example.com/team/a2a","protocolBinding":"JSONRPC","protocolVersion":"0.3"}]`,
		// members of 0.3; the old dialect reads url too
		"url": `"https://agents.example.com/team/a2a"`, "protocolVersion": `"0.3.0"`, "preferredTransport": `"JSONRPC"`,
		"additionalInterfaces": `[{"transport":"JSONRPC","url":"https://agents.example.com/team/a2a"}]`,
		"security":             `[{"bearer":[]}]`,
	} {
		t.Run(member, func(t *testing.T) { same(t, card[member], want) })
	}
	scheme := card["securitySchemes"].(map[string]any)["bearer"].(map[string]any)
	if scheme["type"] != "http" || scheme["scheme"] != "Bearer" {
		t.Errorf("got scheme %v", scheme)
	}
}

func TestClientsOf10GetACardOf10Alone(t *testing.T) {
	s := protocol.New(serves(protocol.Card(input())), silent)
	const of10 = `{
		"name":"stop-and-go","description":"Does things.","version":"2.1.0",
		"provider":{"organization":"Example","url":"https://example.com"},"documentationUrl":"https://agents.example.com/team/docs",
		"supportedInterfaces":[
			{"url":"https://agents.example.com/team/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"},
			{"url":"https://agents.example.com/team/a2a","protocolBinding":"JSONRPC","protocolVersion":"0.3"}],
		"capabilities":{"streaming":true,"pushNotifications":true,"extensions":[{"uri":"` + uriX + `","description":"x"}]},
		"defaultInputModes":["text/plain","image/*"],"defaultOutputModes":["text/plain","application/json"],
		"securitySchemes":{"bearer":{"httpAuthSecurityScheme":{"scheme":"Bearer"}}},
		"securityRequirements":[{"schemes":{"bearer":[]}}],
		"skills":[
			{"id":"resources_list","name":"resources_list","description":"Lists.","tags":["resources"]},
			{"id":"resources_remove","name":"resources_remove","description":"resources_remove","tags":["resources","destructive","needs-approval"]},
			{"id":"loose","name":"loose","description":"loose","tags":["tool"]},
			{"id":"a2a_helper","name":"a2a_helper","description":"Helps.","tags":["agent","destructive","needs-approval"]}]}`
	for version, alone := range map[string]bool{
		"1.0": true, "1": true, "1.0.2": true,
		"": false, "0.3": false, "1.5": false, "10": false, "99.0": false,
	} {
		w := fetch(s, "GET", "A2A-Version", version)
		var card map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &card); err != nil || w.Code != 200 || w.Header().Get("Vary") != "A2A-Version" {
			t.Errorf("version %q: %d %v %s", version, w.Code, w.Header(), w.Body)
		}
		if alone {
			same(t, card, of10)
		} else if card["url"] == nil || card["protocolVersion"] != "0.3.0" {
			t.Errorf("version %q: got %s", version, w.Body)
		}
	}
}

func TestBothFormsOfTheCardMayBeCached(t *testing.T) {
	s := protocol.New(serves(protocol.Card(input())), silent)
	both, alone := fetch(s, "GET"), fetch(s, "GET", "A2A-Version", "1.0")
	if both.Header().Get("ETag") == alone.Header().Get("ETag") {
		t.Error("the two forms have the same tag")
	}
	for version, form := range map[string]*httptest.ResponseRecorder{"": both, "1.0": alone} {
		if w := fetch(s, "GET", "A2A-Version", version, "If-None-Match", form.Header().Get("ETag")); w.Code != http.StatusNotModified || w.Header().Get("Vary") != "A2A-Version" {
			t.Errorf("version %q: got %d %v", version, w.Code, w.Header())
		}
	}
	if w := fetch(s, "GET", "A2A-Version", "1.0", "If-None-Match", both.Header().Get("ETag")); w.Code != 200 {
		t.Errorf("got %d for the tag of the other form", w.Code)
	}
}

func TestAnAgentWithoutToolsCanTalk(t *testing.T) {
	card := protocol.Card(protocol.CardInput{Name: "plain", PublicURL: "http://127.0.0.1:8080"})
	if len(card.Skills) != 1 || card.Skills[0].ID != "chat" || len(card.Skills[0].Tags) == 0 || card.Skills[0].Description == "" {
		t.Errorf("got skills %+v", card.Skills)
	}
	if card.Description == "" || card.Version == "" || len(card.DefaultInputModes) == 0 {
		t.Errorf("got %+v", card)
	}
}

func TestACardWithoutListsHasNoNulls(t *testing.T) {
	bare := &a2a.AgentCard{SupportedInterfaces: protocol.Card(protocol.CardInput{}).SupportedInterfaces, Skills: []a2a.AgentSkill{{ID: "s"}}}
	for _, version := range []string{"", "1.0"} {
		w := fetch(protocol.New(serves(bare), silent), "GET", "A2A-Version", version)
		if w.Code != 200 || strings.Contains(w.Body.String(), "null") {
			t.Errorf("version %q: got %d %s", version, w.Code, w.Body)
		}
	}
}

func TestTheCardMayBeCached(t *testing.T) {
	h := serves(protocol.Card(input()))
	s := protocol.New(h, silent)
	first := fetch(s, "GET")
	tag := first.Header().Get("ETag")
	if tag == "" || first.Header().Get("Cache-Control") != "public, max-age=60" || first.Header().Get("Last-Modified") == "" || first.Header().Get("Content-Type") != "application/json" {
		t.Errorf("got %v", first.Header())
	}
	for _, given := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
		if w := fetch(s, "GET", "If-None-Match", given); w.Code != http.StatusNotModified || w.Body.Len() > 0 {
			t.Errorf("If-None-Match %s: got %d %s", given, w.Code, w.Body)
		}
	}
	if w := fetch(s, "GET", "If-None-Match", `"other"`); w.Code != 200 {
		t.Errorf("got %d", w.Code)
	}
	if again := fetch(protocol.New(h, silent), "GET"); again.Header().Get("ETag") != tag {
		t.Error("another process has another tag for the same card")
	}
	changed := input()
	changed.Tools = changed.Tools[:1]
	h.CardFn = func(context.Context) (*a2a.AgentCard, error) { return protocol.Card(changed), nil }
	if w := fetch(s, "GET", "If-None-Match", tag); w.Code != 200 || w.Header().Get("ETag") == tag {
		t.Errorf("got %d for a card that changed", w.Code)
	}
}

func TestHeadOfTheCard(t *testing.T) {
	w := fetch(protocol.New(serves(protocol.Card(input())), silent), "HEAD")
	if w.Code != 200 || w.Body.Len() > 0 || w.Header().Get("Content-Length") == "" || w.Header().Get("ETag") == "" {
		t.Errorf("got %d %v", w.Code, w.Header())
	}
}

func TestACardThatCannotBeMade(t *testing.T) {
	s, log := logged(&fake{CardFn: func(context.Context) (*a2a.AgentCard, error) { return nil, errors.New("secret") }})
	w := fetch(s, "GET")
	if w.Code != 500 || strings.Contains(w.Body.String(), "secret") || !strings.Contains(log.String(), "secret") || w.Header().Get("ETag") != "" {
		t.Errorf("got %d %s, logged %s", w.Code, w.Body, log)
	}
}
