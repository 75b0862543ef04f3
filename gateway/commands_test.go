package gateway_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/contract/later"
)

// command gives a chat's text to the gateway.
func (a *api) command(text string, more object) reply {
	a.t.Helper()
	body := object{"text": text}
	for k, v := range more {
		body[k] = v
	}
	raw, err := json.Marshal(body)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.do("POST", "/commands", string(raw))
}

// inboxWith is a backend with approvals that wait, which records decisions.
func inboxWith(decided map[string]contract.DecideSignal, uuids ...string) *fakeBackend {
	records := map[string]contract.ApprovalResult{}
	return &fakeBackend{
		WaitingFn: func(service.ListQuery) (page service.Page[service.WaitingItem], err error) {
			for _, uuid := range uuids {
				item := service.WaitingItem{UUID: uuid, ConversationID: someID, ToolName: "drop", CreatedAt: epoch}
				item.Arguments = contract.JSON{Raw: json.RawMessage("{\n \"name\": \"all\"}")}
				page.Items = append(page.Items, item)
			}
			return page, nil
		},
		SubjectFn: func(uuid string) (service.Subject, error) {
			return service.Subject{ConversationID: someID}, nil
		},
		DecideFn: func(uuid string, in contract.DecideSignal) error {
			decided[uuid] = in
			decision := contract.Rejected
			if in.Approved {
				decision = contract.Approved
			}
			records[uuid] = contract.ApprovalResult{UUID: uuid, ConversationID: someID, Tool: "drop", RequestID: in.RequestID, Decision: decision, By: in.By, Reason: in.Reason}
			return nil
		},
		DecisionFn: func(_ context.Context, uuid string) (contract.ApprovalResult, error) { return records[uuid], nil },
	}
}

func TestMessagesAndCommandsAreToldApart(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	for text, message := range map[string]string{"hello": "hello", "!!help me": "!help me", "  !! x": "! x", "a !list": "a !list", "!!!": "!!", "1\n!help": "1\n!help"} {
		r := a.want(200, a.command(text, object{"conversation_id": someID}))
		if r.text("message", "text") != message || r.at("command") != nil || r.text("conversation_id") != someID {
			t.Errorf("%q: %s", text, r.raw)
		}
	}
	for _, text := range []string{"!help", "!HELP", " !help ", "!", "!halp", "!halp me now", "!listen"} {
		r := a.want(200, a.command(text, nil))
		if r.at("message") != nil || r.text("command") != "help" || !strings.Contains(r.text("text"), "!approve [#ID] [REASON]") {
			t.Errorf("%q: %s", text, r.raw)
		}
	}
	if got := a.command("!halp", nil).text("text"); !strings.HasPrefix(got, "!halp is no command. It was not sent.") {
		t.Error(got)
	}
	a.wantError(400, "takes nothing behind it", a.command("!new list the resources", nil))
	a.wantError(400, "text is required", a.command(" ", nil))
	a.wantError(404, "not found", a.command("!tree", object{"conversation_id": "x"}))
}

func TestCommandsChangeTheConversationOfAChat(t *testing.T) {
	b := withShortIDs(t, someID, otherID)
	list := b.ListFn
	b.ListFn = func(q service.ListQuery) (service.Page[service.Item], error) {
		if q.Prefix == "" {
			return items(someID, otherID), nil
		}
		return list(q)
	}
	b.SummaryFn = func() (service.Summary, error) { return service.Summary{Total: 3}, nil }
	var force []bool
	b.DeleteFn = func(in deletion.Input) (deletion.Result, error) {
		force = append(force, in.Force)
		return deletion.Result{Tombstone: &deletion.Tombstone{ConversationID: in.ConversationID}}, nil
	}
	a := newAPI(t, b)
	here := object{"conversation_id": someID[:4]}
	for text, want := range map[string]struct{ in, says string }{
		"!new":                 {"", "begins a new conversation"},
		"!list":                {someID, "* #" + someID[:4]},
		"!use #" + otherID[:4]: {otherID, "goes on here"},
		"!use " + otherID:      {otherID, "goes on here"},
		"!tree":                {someID, "llm "},
		"!delete":              {"", "is deleted"},
	} {
		r := a.want(200, a.command(text, here))
		if r.text("conversation_id") != want.in || !strings.Contains(r.text("text"), want.says) {
			t.Errorf("%s: %s", text, r.raw)
		}
	}
	if got := a.command("!list", here).text("text"); !strings.Contains(got, "  #"+otherID[:4]) || !strings.Contains(got, "and 1 more") {
		t.Error(got)
	}
	a.want(200, a.command("!delete force", here))
	if len(force) != 2 || force[0] || !force[1] {
		t.Error(force)
	}
	a.wantError(404, "not found: #0000", a.command("!use #0000", here))
	a.wantError(400, "!list has them", a.command("!use", here))
	a.wantError(400, "but force", a.command("!delete it", here))
	for _, text := range []string{"!tree", "!cancel", "!delete"} {
		a.wantError(400, "no conversation yet", a.command(text, nil))
	}
}

func TestOnlyWhatTheChatShowsIsDecidedWithoutAnID(t *testing.T) {
	const first, second = "3d0e7a52-9c41-4a8e-b0de-6f5a4b3c2d1e", "3d0e7a52-0c41-4a8e-b0de-6f5a4b3c2d1e"
	for name, c := range map[string]struct {
		text   string
		shown  []string
		status int
		says   string
		uuid   string
		want   contract.DecideSignal
	}{
		"the one that is shown":          {text: "!approve", shown: []string{second}, status: 200, says: "is approved: drop", uuid: second, want: contract.DecideSignal{Approved: true}},
		"with a reason":                  {text: "!reject face it", shown: []string{first, someID}, status: 200, says: "is rejected: drop", uuid: first, want: contract.DecideSignal{Reason: "face it"}},
		"none is shown":                  {text: "!approve", status: 400, says: `#3d0e7a52 drop {"name":"all"}`},
		"what is shown is over":          {text: "!approve", shown: []string{someID, otherID}, status: 400, says: "no approval is shown here"},
		"two are shown":                  {text: "!approve", shown: []string{first, second}, status: 409, says: "several approvals are meant"},
		"by an ID":                       {text: "!approve #3d0e7a520", status: 200, says: "is approved", uuid: second, want: contract.DecideSignal{Approved: true}},
		"by an ID with a reason":         {text: "!reject 3d0e7a529 not now", shown: []string{second}, status: 200, says: "is rejected", uuid: first, want: contract.DecideSignal{Reason: "not now"}},
		"by a whole ID":                  {text: "!approve " + first, status: 200, says: "is approved", uuid: first, want: contract.DecideSignal{Approved: true}},
		"by an ID that is ambiguous":     {text: "!approve #3d0e", shown: []string{first}, status: 409, says: "several approvals are meant"},
		"by an ID that nothing has":      {text: "!approve #0000", shown: []string{first}, status: 404, says: "#0000"},
		"the words of a reason are none": {text: "!reject dead code", shown: []string{first}, status: 200, says: "is rejected", uuid: first, want: contract.DecideSignal{Reason: "dead code"}},
	} {
		t.Run(name, func(t *testing.T) {
			decided := map[string]contract.DecideSignal{}
			a := newAPI(t, inboxWith(decided, first, second))
			r := a.want(c.status, a.command(c.text, object{"conversation_id": someID, "shown": c.shown, "by": "carol"}))
			if !strings.Contains(r.text("text")+r.text("error"), c.says) {
				t.Error(r.raw)
			}
			if c.uuid == "" && len(decided) == 0 {
				return
			}
			got := decided[c.uuid]
			if len(decided) != 1 || got.Approved != c.want.Approved || got.Reason != c.want.Reason || got.Via != "chat" || got.By != "carol" || got.RequestID == "" {
				t.Errorf("%+v", decided)
			}
		})
	}
}

func TestInboxListsWhatWaits(t *testing.T) {
	a := newAPI(t, inboxWith(nil, someUUID))
	if got := a.command("!inbox", nil).text("text"); !strings.Contains(got, `drop {"name":"all"}  (conversation #`+someID[:4]+")") {
		t.Error(got)
	}
	b := inboxWith(nil, someUUID)
	waiting := b.WaitingFn
	b.WaitingFn = func(q service.ListQuery) (service.Page[service.WaitingItem], error) {
		page, err := waiting(q)
		page.Items[0].Requester = contract.Name{Subject: "alice\u202e", Issuer: "keys"}
		return page, err
	}
	if got := newAPI(t, b).command("!inbox", nil).text("text"); !strings.Contains(got, `(for "alice\u202e")`) {
		t.Error(got)
	}
	if got := newAPI(t, inboxWith(nil)).command("!inbox", nil).text("text"); got != "Nothing waits." {
		t.Error(got)
	}
}

func TestAnApprovalIsPutOffByACommand(t *testing.T) {
	const first, second = "3d0e7a52-9c41-4a8e-b0de-6f5a4b3c2d1e", "4d0e7a52-0c41-4a8e-b0de-6f5a4b3c2d1e"
	synctest.Test(t, func(t *testing.T) {
		kept := map[string]later.List{}
		b := inboxWith(nil, first, second)
		waiting := b.WaitingFn
		b.WaitingFn = func(q service.ListQuery) (service.Page[service.WaitingItem], error) {
			page, err := waiting(q)
			for i, item := range page.Items {
				page.Items[i].Deferrals = kept[item.UUID]
			}
			return page, err
		}
		b.LaterFn = func(uuid string, d later.Deferral) error {
			kept[uuid] = kept[uuid].Put(d, time.Now())
			return nil
		}
		a := newAPI(t, b)
		until := func(uuid string) time.Duration {
			if at := kept[uuid].Of("", time.Now()); at != nil {
				return time.Until(*at)
			}
			return 0
		}
		if got := a.command("!later", object{"shown": []string{first}}).text("text"); !strings.Contains(got, "is put off for 2 h. It still waits") || until(first) != 2*time.Hour {
			t.Errorf("%s, for %v", got, until(first))
		}
		lines := strings.Split(a.command("!inbox", nil).text("text"), "\n")
		if !strings.HasPrefix(lines[0], "#4d0e7a52") || strings.Contains(lines[0], "put off") || !strings.HasPrefix(lines[1], "#3d0e7a52") || !strings.Contains(lines[1], "(put off by you, back in 2 h)") {
			t.Error(lines)
		}
		if a.want(200, a.command("!later #4d0e 3d", nil)); until(second) != 72*time.Hour {
			t.Error(until(second))
		}
		if got := a.command("!later #4d0e 0s", nil).text("text"); !strings.Contains(got, "is not put off") || until(second) != 0 {
			t.Errorf("%s, for %v", got, until(second))
		}
		a.wantError(400, `"tomorrow" is no time such as 30m`, a.command("!later #4d0e tomorrow", nil))
		a.wantError(400, `"-2h" is no time`, a.command("!later #4d0e -2h", nil))
		a.wantError(400, "30 days at most", a.command("!later #4d0e 5w", nil))
		a.wantError(404, "#0000", a.command("!later #0000", nil))
	})
}

func choosing(d *gateway.Deps) { d.Agent.Model, d.Agent.Choices = "plain", []string{"deep", "fast"} }

func TestModelsAreChosen(t *testing.T) {
	a := newAPI(t, &fakeBackend{}, choosing)
	for text, want := range map[string]string{
		"!model fast":     `"model":"fast"`,
		"!model":          `plain\n  deep\n  fast`,
		"@deep think":     `"message":{"text":"think","model":"deep"}`,
		"@@alice, hello":  `"message":{"text":"@alice, hello"}`,
		"mail bob@x.test": `"message":{"text":"mail bob@x.test"}`,
	} {
		if r := a.want(200, a.command(text, nil)); !strings.Contains(r.raw, want) {
			t.Errorf("%s: %s", text, r.raw)
		}
	}
	a.wantError(400, "cannot be chosen; these can be: plain, deep, fast", a.command("!model gpt-4o", nil))
	a.wantError(400, "@alice is none of the models that can be chosen: plain, deep, fast", a.command("@alice hello", nil))
	a.wantError(400, "the message for deep is missing", a.command("@deep", nil))
	without := newAPI(t, &fakeBackend{})
	without.wantError(400, "the model of this agent cannot be chosen", without.command("!model fast", nil))
	if got := without.command("@alice hello", nil).text("message", "text"); got != "@alice hello" {
		t.Error(got)
	}
}

func TestTheModelOfAConversationIsShown(t *testing.T) {
	a := newAPI(t, &fakeBackend{ConversationFn: func(id, _ string) (contract.ConversationView, error) {
		return contract.ConversationView{ID: id, Model: "deep"}, nil
	}}, choosing)
	r := a.want(200, a.command("!model", object{"conversation_id": someID}))
	if !strings.Contains(r.raw, `"text":"deep was chosen for this conversation.\n\n!model NAME`) {
		t.Error(r.raw)
	}
}

func TestAMessageNamesItsModel(t *testing.T) {
	var started contract.MessageSignal
	var sent contract.MessageSignal
	var asked contract.ConversationQuery
	a := newAPI(t, &fakeBackend{
		StartFn: func(in service.StartInput) (service.StartResult, error) {
			started = *in.Conversation.First
			return service.StartResult{}, nil
		},
		AdmitFn: func(id string, q contract.ConversationQuery) (contract.ConversationView, error) {
			asked = q
			return viewOf(id), nil
		},
		SignalFn: func(_, _ string, payload any) error {
			sent = payload.(contract.MessageSignal)
			return nil
		},
	}, choosing)
	a.want(202, a.do("POST", "/conversations", `{"message":"x","model":"fast"}`, "Prefer: respond-async"))
	a.want(202, a.do("POST", "/conversations/"+someID+"/messages", `{"message":"x","model":"deep","keep_model":true}`, "Prefer: respond-async"))
	if started.Model != "fast" || started.KeepModel || sent.Model != "deep" || !sent.KeepModel || asked.Model != "deep" {
		t.Errorf("%+v\n%+v\n%+v", started, sent, asked)
	}
	a.wantError(400, "cannot be chosen", a.do("POST", "/conversations", `{"message":"x","model":"gpt-4o"}`))
	a.wantError(400, "needs a message", a.do("POST", "/conversations", `{"model":"fast"}`))
	a.wantError(400, "needs a model", a.do("POST", "/conversations/"+someID+"/messages", `{"message":"x","keep_model":true}`))
}

func TestSeveralCommandsAtOnce(t *testing.T) {
	decided := map[string]contract.DecideSignal{}
	first, second := "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	a := newAPI(t, inboxWith(decided, first, second))
	r := a.want(200, a.command("!approve #11111111 fine\n  !reject #22222222 too much\nNow go on,\n!!and be quick\n", object{"conversation_id": someID}))
	if text := r.text("text"); r.text("command") != "reject" || r.text("conversation_id") != someID || !strings.Contains(text, "#11111111 is approved") || strings.Index(text, "#22222222 is rejected") < strings.Index(text, "#11111111 is approved") {
		t.Errorf("%s", r.raw)
	}
	if got := r.text("message", "text"); got != "Now go on,\n!!and be quick" {
		t.Errorf("message %q", got)
	}
	if !decided[first].Approved || decided[first].Reason != "fine" || decided[second].Approved || decided[second].Reason != "too much" {
		t.Errorf("%+v", decided)
	}
}

func TestNothingIsDoneAfterACommandThatFails(t *testing.T) {
	for text, said := range map[string]string{
		"!help\n!approve #33333333\n!approve #11111111\nhello": "no conversation found",
		"!help\n!halp\n!approve #11111111\nhello":              "!halp is no command",
		"!halp\n!approve #11111111\nhello":                     "!halp is no command",
		"!help\n!new x\n!approve #11111111\nhello":             "Nothing after it was carried out or sent.",
	} {
		decided := map[string]contract.DecideSignal{}
		r := newAPI(t, inboxWith(decided, "11111111-1111-4111-8111-111111111111")).command(text, object{"conversation_id": someID})
		if r.status != 200 || !strings.Contains(r.text("text"), said) || r.at("message") != nil || len(decided) != 0 {
			t.Errorf("%q: %d %s, decided %v", text, r.status, r.raw, decided)
		}
	}
	decided := map[string]contract.DecideSignal{}
	a := newAPI(t, inboxWith(decided, "11111111-1111-4111-8111-111111111111"))
	a.wantError(404, "no conversation found", a.command("!approve #33333333\n!approve #11111111\nhello", nil))
	a.wantError(400, "21 commands", a.command("!approve #11111111"+strings.Repeat("\n!help", 20), nil))
	if len(decided) != 0 {
		t.Errorf("%v", decided)
	}
}

func TestCommandsInAPastedTextAreNotCarriedOut(t *testing.T) {
	decided := map[string]contract.DecideSignal{}
	a := newAPI(t, inboxWith(decided, "11111111-1111-4111-8111-111111111111"))
	for _, text := range []string{"He wrote:\n!approve #11111111", "!!approve #11111111\n!approve #11111111", "> !approve #11111111"} {
		r := a.want(200, a.command(text, object{"conversation_id": someID}))
		if r.at("command") != nil || r.at("message") == nil || len(decided) != 0 {
			t.Errorf("%q: %s", text, r.raw)
		}
	}
}

func TestAMessageBelowCommandsGoesWhereTheyLead(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	r := a.want(200, a.command("!help\n!new\nhello there", object{"conversation_id": someID, "shown": []string{someID}}))
	if r.text("conversation_id") != "" || r.text("message", "text") != "hello there" || r.text("command") != "new" {
		t.Errorf("%s", r.raw)
	}
}
