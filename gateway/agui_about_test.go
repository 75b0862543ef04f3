package gateway_test

import (
	"context"
	"testing"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

func TestCapabilities(t *testing.T) {
	a := newAPI(t, &fakeBackend{CatalogueFn: func(context.Context) (contract.Catalogue, error) {
		return contract.Catalogue{Tools: []contract.Tool{{Name: "add", Description: "Add", InputSchema: []byte(`{"type":"object"}`), DestructiveHint: true}}}, nil
	}})
	r := a.want(200, a.do("GET", "/ag-ui", ""))
	items, _ := r.at("tools", "items").([]any)
	if len(items) != 1 || r.text("identity", "name") != "helper" || r.text("identity", "version") != "1.2.3" {
		t.Fatal(r.raw)
	}
	tool := reply{body: items[0].(map[string]any)}
	if tool.text("name") != "add" || tool.at("metadata", "destructive") != true || tool.at("parameters", "type") != "object" {
		t.Error(r.raw)
	}
	for want, path := range map[*bool][][]string{
		ptr(true): {
			{"transport", "streaming"}, {"transport", "resumable"}, {"tools", "clientProvided"}, {"humanInTheLoop", "supported"},
			{"humanInTheLoop", "approvals"}, {"humanInTheLoop", "interrupts"}, {"humanInTheLoop", "approveWithEdits"}, {"reasoning", "supported"},
		},
		ptr(false): {{"multimodal", "input", "image"}, {"multiAgent", "supported"}},
	} {
		for _, p := range path {
			if r.at(p...) != *want {
				t.Errorf("%v: %v", p, r.at(p...))
			}
		}
	}
}

func ptr(b bool) *bool { return &b }

func TestCapabilitiesWithoutAWorker(t *testing.T) {
	a := newAPI(t, &fakeBackend{CatalogueFn: func(context.Context) (contract.Catalogue, error) {
		return contract.Catalogue{}, service.Errorf(service.KindUnavailable, "no worker")
	}}, func(d *gateway.Deps) {
		d.Agent.Description, d.Version = "Helps", ""
		d.Agent.Tree = &contract.Node{Type: contract.NodeSequential, Nodes: []contract.Node{{Name: "plan", Type: contract.NodeA2A, Peer: &contract.Peer{Name: "p"}}}}
	})
	r := a.want(200, a.do("GET", "/ag-ui", ""))
	if r.at("tools", "items") != nil || r.at("multiAgent", "delegation") != true || r.text("identity", "description") != "Helps" {
		t.Error(r.raw)
	}
	b := newAPI(t, &fakeBackend{})
	b.wantError(500, "internal", b.do("GET", "/ag-ui", ""))
}
