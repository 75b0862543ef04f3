package gateway_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/judgement"
	"agent-stop-and-go/workflows/contract/review"
)

const (
	freeID   = "5b0c0f6e-2d3a-5a4f-8a39-6e9b1f1a2b02"
	fewerID  = "5b0c0f6e-2d3a-5a4f-8a39-6e9b1f1a2b03"
	strictID = "5b0c0f6e-2d3a-5a4f-8a39-6e9b1f1a2b04"
)

func TestOnlyWhatTheRulesOfNowNeedLessForIsReleased(t *testing.T) {
	needs := []judgement.Need{{Rule: "big", By: []string{"group:ops"}, Count: 2, NotRequester: true}}
	waits := func(id string, last judgement.Judgement) service.WaitingItem {
		last.At, last.Effect = epoch, judgement.None
		return service.WaitingItem{UUID: id, ConversationID: "c", ToolName: "refund", CreatedAt: epoch, Card: contract.Card{Policy: "old"}, Judgements: judgement.List{last}}
	}
	var released []string
	var silent string
	var given review.Release
	a := newAPI(t, &fakeBackend{
		WaitingFn: func(q service.ListQuery) (service.Page[service.WaitingItem], error) {
			if q.Limit == 200 && len(q.Token) < 30 { // others wait on many pages before these
				return service.Page[service.WaitingItem]{Next: append(q.Token, '.')}, nil
			}
			return service.Page[service.WaitingItem]{Items: []service.WaitingItem{
				waits(freeID, judgement.Judgement{Policy: "new", Rule: "small", Would: &judgement.Would{Run: true}}),
				waits(fewerID, judgement.Judgement{Policy: "newer", Would: &judgement.Would{Asks: needs}}),
				waits(strictID, judgement.Judgement{Policy: "new", Text: "why", Asks: needs}),
			}}, nil
		},
		ReleaseFn: func(uuid string, in review.Release) error {
			if uuid == silent {
				return service.Errorf(service.KindUnavailable, "nobody answers")
			}
			if uuid == fewerID {
				return service.Errorf(contract.KindInvalid, "there is nothing to release")
			}
			released, given = append(released, uuid), in
			return nil
		},
	})
	const free = `{"uuid":"` + freeID + `","conversation_id":"c","tool_name":"refund","created_at":"2026-03-01T10:00:00Z","opened_under":"old","policy":"new","would":{"run":true}`
	const fewer = `{"uuid":"` + fewerID + `","conversation_id":"c","tool_name":"refund","created_at":"2026-03-01T10:00:00Z","opened_under":"old","policy":"newer","would":{"asks":[{"rule":"big","by":["group:ops"],"count":2,"not_requester":true}]}`
	want := func(raw, what string) {
		t.Helper()
		if raw != what+"\n" {
			t.Errorf("%s\nwant %s", raw, what)
		}
	}
	want(a.want(200, a.do("GET", "/control/releases", "")).raw, `{"approvals":[`+free+`},`+fewer+`}]}`)
	want(a.want(200, a.do("POST", "/control/releases", `{"all":true,"dry_run":true}`)).raw, `{"approvals":[`+free+`},`+fewer+`}]}`)
	if len(released) != 0 {
		t.Errorf("a dry run has released %v", released)
	}
	want(a.want(200, a.do("POST", "/control/releases", `{"all":true,"policy":"newer"}`)).raw,
		`{"approvals":[`+free+`,"error":"the rules are version new now"},`+fewer+`,"error":"there is nothing to release"}]}`)
	want(a.want(200, a.do("POST", "/control/releases", `{"approvals":["`+freeID+`"],"reason":"raised","by":"ops"}`)).raw, `{"approvals":[`+free+`,"released":true}]}`)
	if strings.Join(released, " ") != freeID || given.Policy != "new" || given.By != "ops" || given.Reason != "raised" {
		t.Errorf("%v %+v", released, given)
	}
	silent = freeID
	a.wantError(503, "nobody answers", a.do("POST", "/control/releases", `{"all":true}`))
	silent = fewerID
	want(a.want(200, a.do("POST", "/control/releases", `{"all":true}`)).raw, `{"approvals":[`+free+`,"released":true},`+fewer+`,"error":"nobody answers"}]}`)
	a.wantError(404, strictID, a.do("POST", "/control/releases", `{"approvals":["`+strictID+`"]}`))
	a.wantError(400, "expected approvals", a.do("POST", "/control/releases", `{}`))
	a.wantError(400, "expected approvals", a.do("POST", "/control/releases", `{"all":true,"approvals":["`+freeID+`"]}`))
	if r := a.want(200, a.do("GET", "/approvals", "")); !strings.Contains(r.raw, `"judgements":[{"policy":"new","at":"2026-03-01T10:00:00Z","effect":"none","rule":"small","would":{"run":true}}]`) {
		t.Error(r.raw)
	}
}
