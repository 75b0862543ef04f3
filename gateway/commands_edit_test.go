package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/edit"
)

// paying is an agent with a call that waits, some arguments of which may be changed.
func paying(decided map[string]contract.DecideSignal, uuid string, tools ...contract.Tool) *fakeBackend {
	b := inboxWith(decided, uuid)
	b.ApprovalFn = func(string) (contract.ApprovalView, error) {
		return contract.ApprovalView{Pending: contract.PendingApproval{
			UUID: uuid, ConversationID: someID, ToolName: "pay", Server: "bank", Reason: contract.ReasonDestructive,
			ToolArgs: contract.JSON{Raw: json.RawMessage(`{"amount":5,"ref":"77","to":{"city":"Rome"},"now":false}`)},
			Edit:     []string{"amount", "ref", "to.city", "now", "tags", "zip"},
		}}, nil
	}
	b.CatalogueFn = func(context.Context) (contract.Catalogue, error) { return contract.Catalogue{Tools: tools}, nil }
	decide, record := b.DecideFn, b.DecisionFn
	b.DecideFn = func(uuid string, in contract.DecideSignal) error {
		if strings.Contains(string(in.Edit), "1000") {
			return service.Errorf(contract.KindForbidden, "edit: the rule never refuses the changed call. No.")
		}
		return decide(uuid, in)
	}
	b.DecisionFn = func(ctx context.Context, uuid string) (contract.ApprovalResult, error) {
		r, err := record(ctx, uuid)
		if given := decided[uuid].Edit; len(given) > 0 {
			r.Revision = &contract.Revision{Changes: []edit.Change{{Name: "amount", Before: "5", After: "400"}}, Edit: contract.Hash(edit.Canonical(given))}
		}
		return r, err
	}
	return b
}

func TestACallIsApprovedWithOtherArgumentsInAChat(t *testing.T) {
	const uuid = "3d0e7a52-9c41-4a8e-b0de-6f5a4b3c2d1e"
	pay := contract.Tool{Name: "pay", Server: "bank", InputSchema: json.RawMessage(`{"properties":{"amount":{"type":"number"},"ref":{"type":"string"},` +
		`"to":{"type":"object","properties":{"city":{"type":["string","null"]}}},"now":{"type":"boolean"},"tags":{"type":"array","items":{}},"zip":{"type":["integer","string"]}}}`)}
	other := contract.Tool{Name: "pay", Server: "shop", InputSchema: json.RawMessage(`{"properties":{"amount":{"type":"string"}}}`)}
	for text, want := range map[string]struct{ edit, reason string }{
		"amount=400 too much":              {`{"amount":400}`, "too much"},
		"amount=-4.5e2":                    {`{"amount":-4.5e2}`, ""},
		"ref=400":                          {`{"ref":"400"}`, ""},
		"ref=true now=true":                {`{"now":true,"ref":"true"}`, ""},
		`ref="two words" fine`:             {`{"ref":"two words"}`, "fine"},
		"ref=“two words” fine":             {`{"ref":"two words"}`, "fine"},
		"ref=":                             {`{"ref":""}`, ""},
		"to.city=Oslo  as  agreed":         {`{"to.city":"Oslo"}`, "as  agreed"},
		"to.city=null":                     {`{"to.city":null}`, ""},
		`tags=["a", {"b": 1}] amount=7 ok`: {`{"amount":7,"tags":["a",{"b":1}]}`, "ok"},
		"zip=00123":                        {`{"zip":"00123"}`, ""},
		"zip=123":                          {`{"zip":123}`, ""},
		"amount=9007199254740993":          {`{"amount":9007199254740993}`, ""},
		"it is fine that x=y and see https://a=b": {"", "it is fine that x=y and see https://a=b"},
	} {
		decided := map[string]contract.DecideSignal{}
		r := newAPI(t, paying(decided, uuid, other, pay)).command("!approve #3d0e7a52 "+text, object{"conversation_id": someID})
		says := "is approved: drop"
		if want.edit != "" {
			says += " with amount = 400"
		}
		got := decided[uuid]
		if r.status != 200 || !strings.Contains(r.text("text"), says) || !got.Approved || string(edit.Canonical(got.Edit)) != want.edit || got.Reason != want.reason {
			t.Errorf("%s: %d %s, decided %s %q", text, r.status, r.raw, got.Edit, got.Reason)
		}
	}
}

func TestWithoutASchemaAValueHasTheTypeOfTheOneBefore(t *testing.T) {
	const uuid = "3d0e7a52-9c41-4a8e-b0de-6f5a4b3c2d1e"
	for text, want := range map[string]string{
		"amount=6": `{"amount":6}`, "ref=6": `{"ref":"6"}`, "now=true": `{"now":true}`, "to.city=6": `{"to.city":"6"}`, "tags=6": `{"tags":6}`, "tags=six": `{"tags":"six"}`,
	} {
		decided := map[string]contract.DecideSignal{}
		r := newAPI(t, paying(decided, uuid)).command("!approve "+text, object{"conversation_id": someID, "shown": []string{uuid}})
		if got := decided[uuid]; r.status != 200 || string(edit.Canonical(got.Edit)) != want {
			t.Errorf("%s: %s, decided %s", text, r.raw, got.Edit)
		}
	}
}

func TestChangesInAChatThatAreRefusedDecideNothing(t *testing.T) {
	const uuid = "3d0e7a52-9c41-4a8e-b0de-6f5a4b3c2d1e"
	pay := contract.Tool{Name: "pay", Server: "bank", InputSchema: json.RawMessage(`{"properties":{"amount":{"type":"number"},"now":{"type":"boolean"},"tags":{"type":"array"}}}`)}
	for text, want := range map[string]struct {
		status int
		says   string
	}{
		"account=me":             {400, `\"account\" may not be changed; what may be changed is amount, ref, to.city, now, tags, zip. Nothing is decided`},
		"amount=7 account=me":    {400, `\"account\" may not be changed`},
		"amount=many":            {400, `amount: \"many\" is not of the type number`},
		"amount=":                {400, "is not of the type number"},
		"amount=007":             {400, "is not of the type number"},
		"now=yes":                {400, "is not of the type boolean"},
		"tags=a":                 {400, "is not of the type array"},
		"tags=[1":                {400, "begins like JSON and is none"},
		`ref="a"b`:               {400, "no space behind its value"},
		"ref=“a":                 {400, "is not closed"},
		"amount=7 amount=8":      {400, "amount: it is there twice"},
		"please make amount=400": {400, "write amount=400 before the reason"},
		"amount=1000":            {403, "edit: the rule never refuses the changed call. No."},
	} {
		decided := map[string]contract.DecideSignal{}
		r := newAPI(t, paying(decided, uuid, pay)).command("!approve #3d0e7a52 "+text, object{"conversation_id": someID})
		if r.status != want.status || !strings.Contains(r.raw, want.says) || len(decided) != 0 {
			t.Errorf("%s: %d %s, decided %v", text, r.status, r.raw, decided)
		}
	}
	decided := map[string]contract.DecideSignal{}
	b := paying(decided, uuid, pay)
	b.ApprovalFn = func(string) (contract.ApprovalView, error) {
		return contract.ApprovalView{Pending: contract.PendingApproval{UUID: uuid, ConversationID: someID}}, nil
	}
	a := newAPI(t, b)
	a.wantError(400, "no argument of this call may be changed", a.command("!approve #3d0e7a52 amount=4", object{"conversation_id": someID}))
	if r := a.want(200, a.command("!reject #3d0e7a52 amount=4", object{"conversation_id": someID})); decided[uuid].Reason != "amount=4" {
		t.Errorf("%s %+v", r.raw, decided)
	}
}
