package gateway_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/identity/keys"
	"agent-stop-and-go/workflows/contract"
)

func TestTheCardHasTheAgentsAddress(t *testing.T) {
	b := taskScript().backend()
	a := newAPI(t, b, func(d *gateway.Deps) { d.PublicURL = "https://agents.example.com/x" })
	for _, path := range []string{"/.well-known/agent-card.json", "/.well-known/agent.json", "/a2a"} {
		r := a.do("GET", path, "")
		if r.text("url") != "https://agents.example.com/x/a2a" || r.text("name") != "helper" || r.header.Get("ETag") == "" {
			t.Errorf("%s: %s", path, r.raw)
		}
		if !strings.Contains(r.raw, contract.IdempotentMessages) || !strings.Contains(r.raw, contract.ApprovalParts) {
			t.Errorf("%s does not declare that messages are known again: %s", path, r.raw)
		}
		if same := a.do("GET", path, "", "If-None-Match: "+r.header.Get("ETag")); same.status != 304 {
			t.Errorf("%s again: %d", path, same.status)
		}
	}
}

func TestTheCardSaysHowToProveWhoCalls(t *testing.T) {
	ways := identity.Ways{
		identity.NewKeys(keys.NewReader(filepath.Join(t.TempDir(), "keys.json"), slog.New(slog.DiscardHandler))),
		identity.NewOIDC(identity.OIDCSettings{Issuer: "https://login.example.com/", Audience: "agent"}),
		identity.NewOIDC(identity.OIDCSettings{Issuer: "https://other.example.com", Audience: "agent"}),
		&identity.Proxy{Header: "X-Subject"},
	}
	a := newAPI(t, taskScript().backend(), func(d *gateway.Deps) { d.Callers = ways })
	const path = "/.well-known/agent-card.json"
	for version, want := range map[string][]string{
		"0.3": {
			`"scheme":"Bearer"`, `"openIdConnectUrl":"https://login.example.com/.well-known/openid-configuration"`,
			`"openIdConnectUrl":"https://other.example.com/.well-known/openid-configuration"`,
			`"security":[{"key":[]},{"openIdConnect":[]},{"openIdConnect3":[]}]`,
		},
		"1.0": {
			`"key":{"httpAuthSecurityScheme":{`, `"openIdConnect":{"openIdConnectSecurityScheme":{`,
			`"securityRequirements":[{"schemes":{"key":[]}},{"schemes":{"openIdConnect":[]}},{"schemes":{"openIdConnect3":[]}}]`,
		},
	} {
		r := a.do("GET", path, "", "A2A-Version: "+version)
		for _, part := range want {
			if r.status != 200 || !strings.Contains(r.raw, part) {
				t.Errorf("%s: %d without %s: %s", version, r.status, part, r.raw)
			}
		}
	}
	if r := newAPI(t, taskScript().backend()).do("GET", path, ""); strings.Contains(r.raw, "ecurity") {
		t.Errorf("without ways to prove it: %s", r.raw)
	}
}

// What an agent can do is for callers who may list its tools.
func TestTheExtendedCardDiffersByCaller(t *testing.T) {
	b := taskScript().backend()
	b.CatalogueFn = func(context.Context) (contract.Catalogue, error) {
		return contract.Catalogue{Tools: []contract.Tool{{Name: "vault_open", Description: "Opens the vault."}}}, nil
	}
	a := newAPI(t, b, func(d *gateway.Deps) { d.Callers = badgesOnly })
	public := a.do("GET", "/.well-known/agent-card.json", "")
	if strings.Contains(public.raw, "vault_open") || !strings.Contains(public.raw, `"id":"chat"`) || !strings.Contains(public.raw, `"extendedAgentCard":true`) || !strings.Contains(public.raw, `"supportsAuthenticatedExtendedCard":true`) {
		t.Errorf("strangers see %s", public.raw)
	}
	for name, want := range map[string]struct {
		headers []string
		tools   bool
	}{
		"a reader":      {[]string{badge(person("alice", "read"))}, true},
		"an operator":   {[]string{badge(person("ops", "read:all"))}, true},
		"a sender only": {[]string{badge(person("bot", "converse"))}, false},
	} {
		for _, method := range []string{"GetExtendedAgentCard", "agent/getAuthenticatedExtendedCard"} {
			r := a.rpc(method, object{}, want.headers...)
			if r.status != 200 || r.text("result", "name") != "helper" || strings.Contains(r.raw, "vault_open") != want.tools {
				t.Errorf("%s, %s: %d %s", name, method, r.status, r.raw)
			}
		}
	}
	if r := a.rpc("GetExtendedAgentCard", object{}); r.refusal() != 401 || strings.Contains(r.raw, "vault_open") {
		t.Errorf("a stranger: %d %s", r.status, r.raw)
	}
}
