package gateway_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deputy"
)

func TestDeputiesAreAppointedListedAndRevoked(t *testing.T) {
	var state deputy.State
	f := &fakeBackend{
		DeputiesFn: func() (deputy.State, error) { return state, nil },
		ChangeDeputies: func(update string, c deputy.Change) error {
			if update == deputy.UpdateAppoint {
				state.Deputies = append(state.Deputies, c.Deputy)
				return nil
			}
			state.Deputies = nil
			return nil
		},
	}
	a := newAPI(t, f, func(d *gateway.Deps) { d.Callers = badgesOnly })
	as := func(name string) string { return badge(person(name, contract.ScopeApprove, contract.ScopeRead)) }
	for body, want := range map[string]string{
		`{"to":{"subject":"bob"}}`:                                 `give either`,
		`{"to":{"subject":""},"for":"1h"}`:                         "to must name somebody",
		`{"to":{"subject":"alice"},"for":"1h"}`:                    "deputy of their own",
		`{"to":{"subject":"bob"},"for":"91d"}`:                     "90 days at most",
		`{"to":{"subject":"bob"},"for":"0s"}`:                      "over already",
		`{"to":{"subject":"bob"},"for":"1h","scopes":["operate"]}`: "scopes",
	} {
		if got := a.want(400, a.do("POST", "/deputies", body, as("alice"))).raw; !strings.Contains(got, want) {
			t.Errorf("%s: %s", body, got)
		}
	}
	got := a.want(201, a.do("POST", "/deputies", `{"to":{"subject":"bob"},"for":"1d","reason":"holidays"}`, as("alice")))
	id := got.text("id")
	if d := state.Deputies[0]; d.From.Subject != "alice" || d.To.Issuer != d.From.Issuer || d.Until.Sub(d.Since) > 24*time.Hour || len(d.From.Scopes) == 0 {
		t.Errorf("%+v", d)
	}
	for who, sees := range map[string]bool{"alice": true, "bob": true, "carol": false} {
		if raw := a.want(200, a.do("GET", "/deputies", "", as(who))).raw; strings.Contains(raw, id) != sees || strings.Contains(raw, "scopes") {
			t.Errorf("%s: %s", who, raw)
		}
	}
	a.want(404, a.do("DELETE", "/deputies/"+id, "", as("carol")))
	a.want(204, a.do("DELETE", "/deputies/"+id, "", as("bob")))
	a.want(404, a.do("DELETE", "/deputies/"+id, "", as("alice")))
	f.ChangeDeputies = func(string, deputy.Change) error {
		return service.Errorf(contract.KindBusy, "there are too many deputies")
	}
	if got := a.do("POST", "/deputies", `{"to":{"subject":"bob"},"for":"1d"}`, as("alice")); got.status == 201 {
		t.Errorf("%d: %s", got.status, got.raw)
	}
}

func TestADeputySeesAndDecidesWhatIsForTheOther(t *testing.T) {
	appointed := deputy.State{Deputies: []deputy.Deputy{{
		ID: "1", From: deputy.Person{Subject: "alice", Issuer: "keys", Scopes: []string{contract.ScopeApprove}},
		To: deputy.Person{Subject: "carol", Issuer: "keys"}, Until: time.Now().Add(time.Hour),
	}}}
	var sent contract.DecideSignal
	a := newAPI(t, &fakeBackend{}, func(d *gateway.Deps) {
		f := d.Backend.(*fakeBackend)
		f.DeputiesFn = func() (deputy.State, error) { return appointed, nil }
		d.Backend, d.Callers = deciding{tenancy{f, &sync.Map{}}, &sent}, badgesOnly
	})
	carol := badge(person("carol", contract.ScopeRead))
	path := "/approvals/" + ofAlice.uuid
	if raw := a.want(200, a.do("GET", "/approvals", "", carol)).raw; !strings.Contains(raw, ofAlice.uuid) || strings.Contains(raw, ofBob.uuid) {
		t.Errorf("the list: %s", raw)
	}
	a.want(200, a.do("GET", path, "", carol))
	a.do("POST", path, `{"approved":true}`, carol)
	if sent.For == nil || sent.For.From.Subject != "alice" || sent.Identity.Subject != "carol" || sent.By != "carol" {
		t.Errorf("%+v", sent)
	}
	a.want(404, a.do("POST", "/approvals/"+ofBob.uuid, `{"approved":true}`, carol))
	if got := a.do("POST", "/deputies", `{"to":{"subject":"dave"},"for":"1h","approval":"`+ofAlice.uuid+`"}`, badge(person("carol", contract.ScopeApprove))); got.status != 403 {
		t.Errorf("what was handed over is handed on: %d %s", got.status, got.raw)
	}
	appointed.Deputies[0].Until = time.Now()
	a.want(404, a.do("GET", path, "", carol))
	a.want(404, a.do("POST", path, `{"approved":true}`, carol))
}

// deciding keeps the decision that is sent.
type deciding struct {
	tenancy
	sent *contract.DecideSignal
}

func (d deciding) Decide(_ context.Context, _ string, in contract.DecideSignal) (*contract.ApprovalResult, error) {
	*d.sent = in
	return nil, service.Errorf(contract.KindDecided, "decided")
}
