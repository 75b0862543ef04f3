package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agent-stop-and-go/gateway/client"
)

const (
	someID = "7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f"
	uuid   = "3d0e7a52-9c41-4a8e-b0de-6f5a4b3c2d1e"
)

// person holds a conversation with an agent that records what it is asked to do.
type person struct {
	t     *testing.T
	model *Model
	// screen has what was written above the input.
	screen []string
	left   bool

	mu       sync.Mutex
	asked    []string
	approval client.Approval
	deferred map[string]time.Time
	reply    string // to commands
	refuse   int
}

func newPerson(t *testing.T) *person {
	p := &person{t: t, approval: client.Approval{
		UUID: uuid, ToolName: "drop", Reason: client.ReasonDestructive, ToolArgs: json.RawMessage(`{"name":"all"}`),
	}}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	c, err := client.New(server.URL, client.Options{Pause: func(int) time.Duration { return 0 }})
	if err != nil {
		t.Fatal(err)
	}
	p.model = New(t.Context(), Options{Client: c, By: "alice"})
	p.model.send = func(tea.Msg) {}
	p.model.input.Focus()
	p.update(tea.WindowSizeMsg{Width: 60, Height: 24})
	return p
}

func (p *person) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body json.RawMessage
	_ = json.NewDecoder(r.Body).Decode(&body) // not every request has one
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case r.URL.Path == "/conversations" && r.Method == http.MethodGet:
		fmt.Fprintf(w, `{"conversations":[{"id":%q,"short_id":"#7f9c"}]}`, someID)
		return
	case r.Method == http.MethodGet:
		a := p.approval
		a.UUID = path.Base(r.URL.Path)
		state := client.ApprovalState{Approval: a, Status: "pending"}
		if until, ok := p.deferred[a.UUID]; ok {
			state.DeferredUntil = &until
		}
		_ = json.NewEncoder(w).Encode(state)
		return
	case p.refuse != 0:
		w.WriteHeader(p.refuse)
		fmt.Fprint(w, `{"error":"it is refused"}`)
		return
	}
	if p.asked = append(p.asked, strings.ReplaceAll(r.URL.Path, someID, "ID")+" "+string(body)); r.URL.Path == "/commands" {
		fmt.Fprint(w, p.reply)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprintf(w, `{"conversation_id":%q}`, someID)
}

// update gives the model a message, and whatever follows from it.
func (p *person) update(msg tea.Msg) {
	_, cmd := p.model.Update(msg)
	p.run(cmd)
}

func (p *person) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	msg := cmd()
	if placed, ok := msg.(placedMsg); ok && p.model.place == placed.place {
		msg = placed.msg
	}
	switch msg := msg.(type) {
	case nil, brokenMsg, placedMsg:
	case tea.QuitMsg:
		p.left = true
	case tea.BatchMsg:
		for _, c := range msg {
			p.run(c)
		}
	default:
		v := reflect.ValueOf(msg)
		switch {
		case v.Kind() == reflect.Slice && v.Type().Elem() == reflect.TypeFor[tea.Cmd](): // a sequence
			for i := range v.Len() {
				p.run(v.Index(i).Interface().(tea.Cmd))
			}
		case fmt.Sprintf("%T", msg) == "tea.printLineMessage":
			p.screen = append(p.screen, strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%+v", msg), "{messageBody:"), "}"))
		case strings.HasPrefix(fmt.Sprintf("%T", msg), "chat."), strings.HasPrefix(fmt.Sprintf("%T", msg), "huh."):
			p.update(msg)
		}
	}
}

func (p *person) types(keys ...string) {
	for _, k := range keys {
		switch k {
		case "enter":
			p.update(tea.KeyPressMsg{Code: tea.KeyEnter})
		case "esc":
			p.update(tea.KeyPressMsg{Code: tea.KeyEscape})
		case "up":
			p.update(tea.KeyPressMsg{Code: tea.KeyUp})
		case "down":
			p.update(tea.KeyPressMsg{Code: tea.KeyDown})
		case "backspace":
			p.update(tea.KeyPressMsg{Code: tea.KeyBackspace})
		case "tab":
			p.update(tea.KeyPressMsg{Code: tea.KeyTab})
		case "ctrl+c", "ctrl+d":
			p.update(tea.KeyPressMsg{Code: rune(k[5]), Mod: tea.ModCtrl})
		default:
			for _, r := range k {
				p.update(tea.KeyPressMsg{Code: r, Text: string(r)})
			}
		}
	}
}

// sees gives the model events.
func (p *person) sees(events ...string) {
	p.t.Helper()
	for _, text := range events {
		e := client.Event{Raw: json.RawMessage(text)}
		if err := json.Unmarshal(e.Raw, &e); err != nil {
			p.t.Fatal(err)
		}
		p.update(eventMsg(e))
	}
}

func (p *person) wrote() string { return strings.Join(p.screen, "\n") }

func (p *person) view() string { return p.model.View().Content }

func (p *person) wants(asked ...string) {
	p.t.Helper()
	if !slices.Equal(p.asked, asked) {
		p.t.Errorf("the agent is asked\n%q\nexpected\n%q\n%s", p.asked, asked, p.view())
	}
}

// waits makes the agent wait for the approval and others. The person has looked at it.
func (p *person) waits(others ...string) {
	p.sees(started, stopped(append([]string{uuid}, others...)...))
	p.looks()
}

// looks lets time pass.
func (p *person) looks() { p.model.approvals.since = p.model.approvals.since.Add(-time.Minute) }

// stopped is the end of a run that waits for approvals.
func stopped(uuids ...string) string {
	var waiting []client.Interrupt
	for _, id := range uuids {
		waiting = append(waiting, client.Interrupt{ID: id})
	}
	list, _ := json.Marshal(waiting)
	return `{"type":"RUN_FINISHED","outcome":{"type":"interrupt","interrupts":` + string(list) + `}}`
}

const (
	started  = `{"type":"RUN_STARTED","threadId":"` + someID + `"}`
	finished = `{"type":"RUN_FINISHED","outcome":{"type":"success"}}`
)

func TestAMessageIsSentAndItsAnswerWritten(t *testing.T) {
	p := newPerson(t)
	p.types("hello", "enter")
	p.wants(`/conversations {"message":"hello"}`)
	p.sees(started, `{"type":"TEXT_MESSAGE_START","messageId":"a","role":"assistant"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"One \u001b[2J"}`)
	if v := p.view(); !strings.Contains(v, `One \u001b[2J`) || strings.Contains(p.wrote(), "One") || !strings.Contains(v, "Ctrl-C cancels") {
		t.Errorf("%s\n%s", v, p.wrote())
	}
	p.sees(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"two."}`, `{"type":"TEXT_MESSAGE_END","messageId":"a"}`, finished)
	if !strings.Contains(p.wrote(), `One \u001b[2Jtwo.`) || strings.Contains(p.view(), "One") {
		t.Errorf("%s\n%s", p.view(), p.wrote())
	}
	p.types("and now", "enter")
	p.wants(`/conversations {"message":"hello"}`, `/conversations/ID/messages {"message":"and now"}`)
}

func TestOneKeyDecides(t *testing.T) {
	doubt := client.Approval{UUID: uuid, ToolName: "drop", Reason: client.ReasonUnknownOutcome}
	question := client.Approval{UUID: uuid, ToolName: "ask", Reason: client.ReasonQuestion}
	booking := client.Approval{UUID: uuid, ToolName: "book", Reason: client.ReasonQuestion, Schema: json.RawMessage(`{"type":"object","required":["seats","class","note"],
		"properties":{"seats":{"type":"integer","minimum":1},"class":{"type":"string","enum":["eco","biz"]},"note":{"type":"string"}}}`)}
	const path = "/approvals/" + uuid + " "
	cases := map[string]struct {
		approval client.Approval
		keys     []string
		want     string
	}{
		"yes":                       {keys: []string{"y"}, want: path + `{"approved":true,"by":"alice"}`},
		"no with a reason":          {keys: []string{"n", "not yet", "enter"}, want: path + `{"approved":false,"by":"alice","reason":"not yet"}`},
		"no without a reason":       {keys: []string{"n", "enter"}, want: path + `{"approved":false,"by":"alice"}`},
		"no, and then not":          {keys: []string{"n", "ctrl+c", "y"}, want: path + `{"approved":true,"by":"alice"}`},
		"other keys do nothing":     {keys: []string{"q", "enter", "x", "r"}},
		"it did run":                {approval: doubt, keys: []string{"r"}, want: path + `{"answer":"ran","by":"alice"}`},
		"an answer":                 {approval: question, keys: []string{"yes", "enter"}, want: path + `{"answer":"yes","by":"alice"}`},
		"a form":                    {approval: question, keys: []string{`{"a":1}`, "enter"}, want: path + `{"content":{"a":1},"by":"alice"}`},
		"a question declined":       {approval: question, keys: []string{"decline", "enter"}, want: path + `{"approved":false,"by":"alice"}`},
		"a message first":           {keys: []string{"tab", "yes", "enter"}, want: `/conversations/ID/messages {"message":"yes"}`},
		"back to it, and yes":       {keys: []string{"tab", "tab", "y"}, want: path + `{"approved":true,"by":"alice"}`},
		"a filled form":             {approval: booking, keys: []string{"enter", "0", "enter", "backspace", "3", "enter", "down", "enter", "x", "enter"}, want: path + `{"content":{"seats":3,"class":"biz","note":"x"},"by":"alice"}`},
		"a form declined":           {approval: booking, keys: []string{"3", "esc", "d", "no room", "enter"}, want: path + `{"approved":false,"by":"alice","reason":"no room"}`},
		"a form, after all":         {approval: booking, keys: []string{"3", "esc", "q", "esc", "enter", "enter", "x", "enter"}, want: path + `{"content":{"seats":3,"class":"eco","note":"x"},"by":"alice"}`},
		"a message before the form": {approval: booking, keys: []string{"3", "esc", "m", "yes", "enter"}, want: `/conversations/ID/messages {"message":"yes"}`},
		"typed ahead into the form": {approval: booking, keys: []string{"ahead", "3", "enter", "enter", "x", "enter"}},
		"typed ahead into the card": {keys: []string{"ahead", "y"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // the cursor of a form blinks, for which each key waits
			p := newPerson(t)
			if c.approval.UUID != "" {
				p.approval = c.approval
			}
			p.waits()
			if c.keys[0] == "ahead" {
				p.model.approvals.since = time.Now()
				c.keys = c.keys[1:]
			}
			p.types(c.keys...)
			if c.want == "" {
				p.wants()
				return
			}
			p.wants(c.want)
		})
	}
}

func TestAFormShowsOneFieldAfterTheOther(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.approval = client.Approval{UUID: uuid, ToolName: "book", Reason: client.ReasonQuestion, Schema: json.RawMessage(`{"type":"object","required":["seats"],
		"properties":{"seats":{"type":"integer","title":"Seats\u202e","description":"How many\u001b[2J","maximum":9},"class":{"type":"string","enum":["eco","biz\u202e"]}}}`)}
	p.waits()
	if v := p.view(); !strings.Contains(v, `Seats\u202e (required)`) || !strings.Contains(v, `How many\u001b[2J`) || strings.Contains(v, "eco") {
		t.Error(v)
	}
	p.types("12", "enter")
	if v := p.view(); !strings.Contains(v, "must be at most 9") {
		t.Error(v)
	}
	p.types("backspace", "enter")
	if v := p.view(); !strings.Contains(v, "No answer") || !strings.Contains(v, `biz\u202e`) || strings.ContainsAny(v, "\u202e") {
		t.Error(v)
	}
	p.wants()
}

func TestNotNowIsKeptAtTheAgent(t *testing.T) {
	const other, laterPath = "9a1b6c7d-0e2f-4a3b-8c4d-5e6f7a8b9c0d", "/approvals/" + uuid + `/later {"for":"2h0m0s"}`
	p := newPerson(t)
	p.waits(other)
	p.reply = `{"uuid":"` + uuid + `","deferred_until":"2099-01-01T10:00:00Z"}`
	p.types("l")
	p.wants(laterPath)
	if w := p.wrote(); !strings.Contains(w, other) {
		t.Errorf("the next one is not asked about:\n%s", w)
	}
	p.looks()
	p.reply = ""
	p.types("y") // and now the first one is shown again, and not asked about
	p.wants(laterPath, "/approvals/"+other+` {"approved":true,"by":"alice"}`)
	p.types("y", "enter")
	p.wants(laterPath, "/approvals/"+other+` {"approved":true,"by":"alice"}`, `/conversations/ID/messages {"message":"y"}`)
}

func TestWhatWasPutOffElsewhereIsShownAndNotAskedAbout(t *testing.T) {
	const other = "9a1b6c7d-0e2f-4a3b-8c4d-5e6f7a8b9c0d"
	p := newPerson(t)
	p.deferred = map[string]time.Time{uuid: time.Now().Add(time.Hour)}
	p.waits()
	if v := p.view(); !strings.Contains(v, "You have put this off until") || strings.Contains(v, "y yes") || !strings.Contains(p.wrote(), "Approval "+uuid) {
		t.Errorf("%s\n%s", v, p.wrote())
	}
	p.types("tab", "y")
	p.wants("/approvals/" + uuid + ` {"approved":true,"by":"alice"}`)

	p = newPerson(t)
	p.deferred = map[string]time.Time{uuid: time.Now().Add(time.Hour)}
	p.waits(other)
	p.types("y")
	p.wants("/approvals/" + other + ` {"approved":true,"by":"alice"}`)
}

func TestWhatWasSentComesBack(t *testing.T) {
	p := newPerson(t)
	p.sees(started, finished)
	p.reply = `{"command":"list","text":"one","conversation_id":"` + someID + `"}`
	p.types("one", "enter", "!list", "enter", "half")
	value := func() string { return p.model.input.Value() }
	for _, step := range [][2]string{{"up", "!list"}, {"up", "one"}, {"up", "one"}, {"down", "!list"}, {"down", "half"}, {"down", "half"}} {
		if p.types(step[0]); value() != step[1] {
			t.Errorf("%s: %q, expected %q", step[0], value(), step[1])
		}
	}
	p.model.input.SetValue("two\nlines")
	if p.types("up"); value() != "two\nlines" {
		t.Errorf("up in the second line: %q", value())
	}
	if p.types("up"); value() != "!list" {
		t.Errorf("up in the first line: %q", value())
	}
}

func TestAllOfAnApprovalIsWrittenBeforeItIsAskedAbout(t *testing.T) {
	p := newPerson(t)
	var words []string
	for i := range 1000 {
		words = append(words, fmt.Sprintf("word%d", i))
	}
	p.approval.ToolArgs, _ = json.Marshal(map[string]string{"text": strings.Join(words, " ") + "\u202e"})
	p.waits()
	for _, word := range append(words, `\u202e`) {
		if !strings.Contains(strings.Join(strings.Fields(p.wrote()), " "), word) {
			t.Errorf("%s is not shown", word)
		}
	}
	for _, piece := range p.screen {
		if n := strings.Count(piece, "\n") + 1; n > 11 {
			t.Errorf("a piece of %d lines and the view do not fit on a screen of 24", n)
		}
	}
	if v := p.view(); strings.Count(v, "\n")+1 > 12 || !strings.Contains(v, "y yes") {
		t.Errorf("%s", v)
	}
}

func TestWhatIsDecidedElsewhereIsNotAskedAnyMore(t *testing.T) {
	p := newPerson(t)
	p.waits()
	p.sees(started, finished)
	p.types("y", "ctrl+c")
	p.wants()
	if !strings.Contains(p.view(), "> ") {
		t.Error(p.view())
	}
}

func TestAnAnswerIsForTheApprovalThatIsShownLast(t *testing.T) {
	const other = "9a1b6c7d-0e2f-4a3b-8c4d-5e6f7a8b9c0d"
	p := newPerson(t)
	p.waits(other)
	if strings.Contains(p.wrote(), other) {
		t.Errorf("it is asked about the first one, and the second is shown last:\n%s", p.wrote())
	}
	p.types("n", "not this one")
	p.sees(started, stopped(other)) // somebody else has decided the first
	p.types("y", "enter")
	p.wants()
	if !strings.Contains(p.wrote(), other) || p.model.input.Value() != "" {
		t.Errorf("%q\n%s", p.model.input.Value(), p.wrote())
	}
	p.looks()
	p.types("y")
	p.wants("/approvals/" + other + ` {"approved":true,"by":"alice"}`)
}

func TestTheNextApprovalIsAskedAboutAfterTheFirst(t *testing.T) {
	const other = "9a1b6c7d-0e2f-4a3b-8c4d-5e6f7a8b9c0d"
	p := newPerson(t)
	p.waits(other)
	p.types("y", "y")
	p.wants("/approvals/" + uuid + ` {"approved":true,"by":"alice"}`)
	if !strings.Contains(p.wrote(), other) {
		t.Error(p.wrote())
	}
	p.looks()
	p.types("n", "enter")
	p.wants("/approvals/"+uuid+` {"approved":true,"by":"alice"}`, "/approvals/"+other+` {"approved":false,"by":"alice"}`)
}

func TestARefusedAnswerAsksAgain(t *testing.T) {
	p := newPerson(t)
	p.waits()
	p.refuse = http.StatusBadRequest
	p.types("y")
	if v := p.view(); !strings.Contains(v, "y yes") || !strings.Contains(v, "it is refused") {
		t.Errorf("%s", v)
	}
	p.refuse = http.StatusConflict
	p.model.approvals.since = time.Time{}
	p.types("y")
	if v := p.view(); strings.Contains(v, "y yes") {
		t.Errorf("somebody else has decided: %s", v)
	}
}

func TestCtrlCCancelsTheTurnAndLeavesTheSecondTime(t *testing.T) {
	p := newPerson(t)
	p.sees(started)
	p.types("ctrl+c")
	if p.wants("/conversations/ID/cancel "); p.left {
		t.Error("the first one leaves")
	}
	p.sees(finished)
	p.types("x", "ctrl+c")
	if p.left || p.model.input.Value() != "" {
		t.Error("a key in between does not count")
	}
	p.types("ctrl+c")
	if !p.left || p.view() != "" {
		t.Error("the second one does not leave")
	}
}

func TestAMessageThatIsNotSentStays(t *testing.T) {
	p := newPerson(t)
	p.refuse = http.StatusConflict
	p.types("hello", "enter")
	if p.model.input.Value() != "hello" || !strings.Contains(p.view(), "it is refused") {
		t.Errorf("%s", p.view())
	}
}

func TestTheEditorChangesTheMessage(t *testing.T) {
	p := newPerson(t)
	file, err := writeDraft("hello")
	if err != nil {
		t.Fatal(err)
	}
	if err := editor(t.Context(), "printf ' there' | tee -a", file).Run(); err != nil {
		t.Fatal(err)
	}
	p.update(editedMsg{file: file})
	if got := p.model.input.Value(); got != "hello there" {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Error("the file is left")
	}
}

func TestACorrectedTextIsWrittenAgain(t *testing.T) {
	p := newPerson(t)
	p.sees(started, `{"type":"TEXT_MESSAGE_START","messageId":"a","role":"assistant"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"one"}`,
		`{"type":"TEXT_MESSAGE_END","messageId":"a"}`, `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"assistant","content":"two"}]}`, finished, started, finished)
	if w := p.wrote(); strings.Count(w, "one") != 1 || strings.Count(w, "two") != 1 || !strings.Contains(w, "(corrected)") {
		t.Error(w)
	}
}

func TestACommandIsCarriedOutAndNotSent(t *testing.T) {
	p := newPerson(t)
	p.sees(started, finished)
	p.reply = `{"command":"list","text":"* #7f9c one\u001b[2J\n  #0b8c two","conversation_id":"` + someID + `"}`
	p.types("!list", "enter")
	p.wants(`/commands {"text":"!list","conversation_id":"` + someID + `","by":"alice"}`)
	if w := p.wrote(); !strings.Contains(w, "!list") || !strings.Contains(w, `* #7f9c one\u001b[2J`) || !strings.Contains(w, "#0b8c two") {
		t.Error(w)
	}
	if v := p.view(); !strings.Contains(v, "#7f9c · Enter sends") {
		t.Error(v)
	}
}

func TestACommandMayGoOnInAnotherConversation(t *testing.T) {
	const other = "0b8c9d0e-1f2a-4b3c-8d4e-5f6a7b8c9d0e"
	p := newPerson(t)
	p.waits()
	p.reply = `{"command":"use","text":"it goes on here","conversation_id":"` + other + `"}`
	p.types("tab", "!use #0b8c", "enter")
	p.wants(`/commands {"text":"!use #0b8c","conversation_id":"` + someID + `","shown":["` + uuid + `"],"by":"alice"}`)
	if p.model.transcript.ConversationID != other || len(p.model.approvals.waiting) != 0 {
		t.Errorf("%+v", p.model.transcript)
	}
	p.update(placedMsg{p.model.place - 1, eventMsg(client.Event{Type: "RUN_STARTED"})}) // of the one before
	if p.model.running {
		t.Error("an event of the conversation before is taken")
	}
	p.reply = `{"command":"new","text":"a new one","conversation_id":""}`
	p.types("!new", "enter", "hello", "enter")
	if got := p.asked[len(p.asked)-1]; got != `/conversations {"message":"hello"}` {
		t.Error(got)
	}
}

func TestAMessageBelowCommandsIsSentWhereTheyLead(t *testing.T) {
	p := newPerson(t)
	p.sees(started, finished)
	p.reply = `{"command":"model","text":"a new one","message":{"text":"hello"},"model":"other","conversation_id":""}`
	p.types("!new", "enter")
	p.wants(`/commands {"text":"!new","conversation_id":"`+someID+`","by":"alice"}`, `/conversations {"message":"hello","model":"other","keep_model":true}`)
	if w := p.wrote(); !strings.Contains(w, "a new one") {
		t.Error(w)
	}
}

func TestAMessageThatBeginsLikeACommand(t *testing.T) {
	p := newPerson(t)
	p.reply = `{"message":{"text":"!list"},"conversation_id":""}`
	p.types("!!list", "enter")
	p.wants(`/commands {"text":"!!list","by":"alice"}`, `/conversations {"message":"!list"}`)
	p.reply = ""
	p.refuse = http.StatusConflict
	p.types("!use #7f", "enter")
	if p.model.input.Value() != "" || !strings.Contains(p.view(), "it is refused") {
		t.Error(p.view())
	}
}
