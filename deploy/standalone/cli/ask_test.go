package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"agent-stop-and-go/gateway/client"
)

const (
	someID = "7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f"
	uuid   = "3d0e7a52-9c41-4a8e-b0de-6f5a4b3c2d1e"
)

// agent is an agent that asks for one approval and continues with each decision.
type agent struct {
	mu       sync.Mutex
	approval client.Approval
	decided  []client.Answer
	// unfit is how many answers do not fit.
	unfit int
	// late is how often the approval is still shown after the decision.
	late int
	// until is until when it is put off already, deferred are the times for which it is now.
	until    time.Time
	deferred []string
}

func (a *agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch key := r.Method + " " + r.URL.Path; key {
	case "POST /conversations":
		a.stream(w, `{"type":"TEXT_MESSAGE_START","messageId":"m1","role":"user"}`, `{"type":"TEXT_MESSAGE_START","messageId":"m2","role":"assistant"}`,
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m2","delta":"I will \u001b[31mdrop\u0007 it."}`, a.interrupt())
	case "GET /approvals/" + uuid:
		state := client.ApprovalState{Approval: a.approval, Status: "pending"}
		if !a.until.IsZero() {
			state.DeferredUntil = &a.until
		}
		_ = json.NewEncoder(w).Encode(state)
	case "POST /approvals/" + uuid + "/later":
		var in struct{ For string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			panic(err)
		}
		a.deferred = append(a.deferred, in.For)
		fmt.Fprintf(w, `{"uuid":%q,"deferred_until":"2099-01-01T12:00:00Z"}`, uuid)
	case "POST /approvals/" + uuid:
		var in client.Answer
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			panic(err)
		}
		if a.unfit--; a.unfit >= 0 {
			http.Error(w, `{"error":"it does not fit"}`, http.StatusBadRequest)
			return
		}
		a.decided = append(a.decided, in)
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprint(w, "{}")
	case "GET /conversations/" + someID + "/events":
		if a.late--; a.late >= 0 {
			a.stream(w, a.interrupt())
			return
		}
		a.stream(w, `{"type":"TEXT_MESSAGE_START","messageId":"m3","role":"assistant"}`,
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m3","delta":"It is done."}`, `{"type":"RUN_FINISHED","outcome":{"type":"success"}}`)
	default:
		http.Error(w, `{"error":"`+key+` is not expected"}`, http.StatusNotFound)
	}
}

func (a *agent) interrupt() string {
	return `{"type":"RUN_FINISHED","outcome":{"type":"interrupt","interrupts":[{"id":"` + uuid + `"}]}}`
}

func (a *agent) stream(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "id: 1\ndata: {\"type\":\"RUN_STARTED\",\"threadId\":%q}\n\n", someID)
	for _, e := range events {
		fmt.Fprintf(w, "data: %s\n\n", e)
	}
}

// talk asks the agent something as a person who types these lines.
func (a *agent) talk(t *testing.T, typed string) (out, shown string, err error) {
	t.Helper()
	server := httptest.NewServer(a)
	defer server.Close()
	c, err := client.New(server.URL, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	s := &session{Client: c, flags: &Flags{getenv: func(string) string { return "" }}, in: strings.NewReader(typed), out: &stdout, err: &stderr, talks: typed != ""}
	_, err = s.ask(context.Background(), asking{by: "alice"}, "drop it")
	return stdout.String(), stderr.String(), err
}

func destructive() client.Approval {
	return client.Approval{
		UUID: uuid, ConversationID: someID, ToolName: "drop", Reason: client.ReasonDestructive,
		ToolArgs: json.RawMessage(`{"name":"a\u202eb` + "\u202e\u009b" + `","sha256":"x"}`), Description: "Drop \x1b[2Jit",
	}
}

func TestAskShowsWhatIsDecidedOn(t *testing.T) {
	a := &agent{approval: destructive(), late: 2}
	out, shown, err := a.talk(t, "what?\nYES\n")
	if err != nil || out != "I will \\u001b[31mdrop\\u0007 it.\nIt is done.\n" {
		t.Errorf("%q %v", out, err)
	}
	for _, want := range []string{`"name": "a\u202eb\u202e\u009b"`, `"sha256": "x"`, "may change or destroy", `Drop \u001b[2Jit`} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in\n%s", want, shown)
		}
	}
	if strings.ContainsAny(out+shown, "\x1b\x07\u202e\u009b") {
		t.Errorf("a control character reaches the terminal: %q %q", out, shown)
	}
	if len(a.decided) != 1 || a.decided[0].Approved == nil || !*a.decided[0].Approved || a.decided[0].By != "alice" {
		t.Errorf("%+v", a.decided)
	}
}

func TestAskAsksAgainAfterAnAnswerThatDoesNotFit(t *testing.T) {
	question := destructive()
	question.Reason = client.ReasonQuestion
	a := &agent{approval: question, unfit: 1}
	_, shown, err := a.talk(t, "one\ntwo\n")
	if err != nil || len(a.decided) != 1 || a.decided[0].Answer != "two" || !strings.Contains(shown, "it does not fit") {
		t.Errorf("%+v %v\n%s", a.decided, err, shown)
	}
}

// An agent that is away for a while is asked again, and an approval that has ended is left out.
func TestWatchGoesOn(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	looks := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/approvals/gone":
			http.Error(w, "{}", http.StatusNotFound)
		case r.URL.Path != "/approvals":
			_ = json.NewEncoder(w).Encode(client.ApprovalState{Approval: destructive()})
		case looks == 1 || looks == 2:
			looks++
			http.Error(w, `{"error":"not now"}`, http.StatusServiceUnavailable)
		default:
			if looks++; looks > 5 {
				stop()
			}
			_ = json.NewEncoder(w).Encode(client.Approvals{Approvals: []client.WaitingApproval{{UUID: uuid}, {UUID: "gone"}}})
		}
	}))
	defer server.Close()
	c, err := client.New(server.URL, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out, problems bytes.Buffer
	s := &session{Client: c, flags: &Flags{getenv: func(string) string { return "" }}, out: &out, err: &problems}
	err = s.watch(ctx, time.Millisecond)
	if err != nil || strings.Count(out.String(), "Approval "+uuid) != 1 || strings.Count(problems.String(), "not now") != 1 {
		t.Errorf("%v\n%s\n%s", err, out.String(), problems.String())
	}
}

func TestAskTakesAnswers(t *testing.T) {
	question, doubt := destructive(), destructive()
	question.Reason, question.Schema = client.ReasonQuestion, json.RawMessage(`{"type":"object"}`)
	doubt.Reason = client.ReasonUnknownOutcome
	booking := question
	booking.Schema = json.RawMessage(`{"type":"object","required":["seats","class"],"properties":{"seats":{"type":"integer","minimum":1,"default":2},
		"class":{"type":"string","enum":["eco","biz"]},"extras":{"type":"array","items":{"enum":["meal","bag"]}},"window":{"type":"boolean"},"note":{"type":"string"}}}`)
	cases := map[string]struct {
		approval client.Approval
		typed    string
		want     string
	}{
		"a yes":              {destructive(), "y\n", `{"approved":true,"by":"alice"}`},
		"a no with a reason": {destructive(), "no\nnot today\n", `{"approved":false,"by":"alice","reason":"not today"}`},
		"a no without one":   {destructive(), "n\n\n", `{"approved":false,"by":"alice"}`},
		"a form":             {question, `{"branch":"main"}` + "\n", `{"content":{"branch":"main"},"by":"alice"}`},
		"a value of a form":  {question, "\nyes\n", `{"answer":"yes","by":"alice"}`},
		"field by field":     {booking, "\n0\n3\nfirst\nbiz\nmeal, bag\nyes\nx y\n", `{"content":{"seats":3,"class":"biz","extras":["meal","bag"],"window":true,"note":"x y"},"by":"alice"}`},
		"what is left out":   {booking, "\n\neco\n\n\n\n", `{"content":{"seats":2,"class":"eco"},"by":"alice"}`},
		"all fields at once": {booking, `{"seats":1,"class":"eco"}` + "\n", `{"content":{"seats":1,"class":"eco"},"by":"alice"}`},
		"a question refused": {question, "decline\n\n", `{"approved":false,"by":"alice"}`},
		"that it did run":    {doubt, "ran\n", `{"answer":"ran","by":"alice"}`},
		"ran is no answer":   {destructive(), "ran\ny\n", `{"approved":true,"by":"alice"}`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			a := &agent{approval: c.approval}
			if _, shown, err := a.talk(t, c.typed); err != nil || len(a.decided) != 1 {
				t.Fatalf("%v, %d decisions\n%s", err, len(a.decided), shown)
			}
			if got, _ := json.Marshal(a.decided[0]); string(got) != c.want {
				t.Errorf("sent %s, expected %s", got, c.want)
			}
		})
	}
}

func TestAskLeavesWhatNobodyDecides(t *testing.T) {
	for name, typed := range map[string]string{"in a pipe": "", "later": "later\n", "at the end of the input": "\n"} {
		t.Run(name, func(t *testing.T) {
			a := &agent{approval: destructive()}
			_, shown, err := a.talk(t, typed)
			if ExitCode(err) != ExitWaits || len(a.decided) != 0 {
				t.Errorf("%v, %d decisions", err, len(a.decided))
			}
			for _, want := range []string{"agent approvals approve " + uuid, "agent conversations show " + someID} {
				if !strings.Contains(shown, want) {
					t.Errorf("%q is not in\n%s", want, shown)
				}
			}
		})
	}
}

func TestAskSaysWhatAFieldAccepts(t *testing.T) {
	question := destructive()
	question.Reason, question.Schema = client.ReasonQuestion, json.RawMessage(`{"type":"object","required":["class"],"properties":{
		"class":{"type":"string","title":"Class\u202e","description":"Where\u001b","oneOf":[{"const":"eco","title":"Economy"},{"const":"biz","title":"biz"}]}}}`)
	a := &agent{approval: question}
	_, shown, err := a.talk(t, "\nfirst\neco\n")
	for _, want := range []string{`Class\u202e [eco = Economy / biz]`, `Where\u001b`, "must be one of"} {
		if err != nil || !strings.Contains(shown, want) {
			t.Errorf("%v, %q is not in\n%s", err, want, shown)
		}
	}
	a = &agent{approval: question}
	if _, _, err := a.talk(t, "\n"); ExitCode(err) != ExitWaits || len(a.decided) != 0 { // in the middle of the form
		t.Errorf("%v %+v", err, a.decided)
	}
}

func TestLaterIsKeptAtTheAgent(t *testing.T) {
	a := &agent{approval: destructive()}
	_, shown, err := a.talk(t, "later\n")
	if ExitCode(err) != ExitWaits || len(a.deferred) != 1 || a.deferred[0] != "2h0m0s" || !strings.Contains(shown, "It is put off until 2099-01-01") {
		t.Errorf("%v %v\n%s", err, a.deferred, shown)
	}
	a = &agent{approval: destructive(), until: time.Date(2099, 1, 1, 12, 0, 0, 0, time.UTC)}
	if _, shown, _ = a.talk(t, "y\n"); !strings.Contains(shown, "put off       until 2099-01-01") {
		t.Errorf("what was put off elsewhere does not say so:\n%s", shown)
	}
}

func TestATextThatIsReplacedIsPrintedAgain(t *testing.T) {
	var out bytes.Buffer
	p := &printer{session: &session{out: &out, err: &out, flags: &Flags{}}}
	for _, e := range []string{
		`{"type":"TEXT_MESSAGE_START","messageId":"a","role":"assistant"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"one "}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"a","delta":"two"}`,
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u","role":"user","content":"hi"},{"id":"a","role":"assistant","content":"one two three"}]}`,
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u","role":"user","content":"hi"},{"id":"b","role":"assistant","content":"four"}]}`,
	} {
		event := client.Event{}
		if err := json.Unmarshal([]byte(e), &event); err != nil {
			t.Fatal(err)
		}
		if err := p.event(event); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.endLine(); err != nil || out.String() != "one two three\nfour\n" {
		t.Errorf("%q %v", out.String(), err)
	}
}

func TestAKeyProvesItsOwnName(t *testing.T) {
	env := map[string]string{"USER": "carol"}
	f := &Flags{getenv: func(name string) string { return env[name] }}
	if got := f.decider(""); got != "carol" {
		t.Errorf("without a key: %q", got)
	}
	env["AGENT_KEY"] = "k"
	if got := f.decider(""); got != "" {
		t.Errorf("with a key: %q", got)
	}
	if got := f.decider("dave"); got != "dave" {
		t.Errorf("with a name: %q", got)
	}
}
