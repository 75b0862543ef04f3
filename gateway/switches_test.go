package gateway_test

import (
	"testing"

	"agent-stop-and-go/workflows/contract/switches"
)

func TestSwitchesAreSetAndRemoved(t *testing.T) {
	state, durable := switches.State{}, false
	answer := func(switches.Change) (*switches.State, error) {
		if durable {
			return nil, nil
		}
		return &state, nil
	}
	var paused, resumed switches.Change
	a := newAPI(t, &fakeBackend{
		SwitchesFn: func() (switches.State, error) { return state, nil },
		PauseFn: func(c switches.Change) (*switches.State, error) {
			paused = c
			state.Switches = []switches.Switch{{What: c.What, Reason: c.Reason, By: c.By, Since: epoch}}
			return answer(c)
		},
		ResumeFn: func(c switches.Change) (*switches.State, error) {
			resumed, state = c, switches.State{}
			return answer(c)
		},
	})
	a.want(200, a.do("POST", "/control/pause", `{"what":"server:resources","reason":"the disk is replaced","by":"ops"}`))
	if want := (switches.Change{What: "server:resources", Reason: "the disk is replaced", By: "ops"}); paused.What != want.What || paused.Reason != want.Reason || paused.By != want.By {
		t.Errorf("%+v", paused)
	}
	const list = `{"switches":[{"what":"server:resources","in_words":"tool server resources","reason":"the disk is replaced","by":"ops","since":"2026-03-01T10:00:00Z"}]}`
	if r := a.want(200, a.do("GET", "/control/switches", "")); string(r.raw) != list+"\n" {
		t.Errorf("%s", r.raw)
	}
	durable = true
	a.want(202, a.do("POST", "/control/resume", `{"what":"server:resources"}`, "X-User: eve"))
	if resumed.What != "server:resources" || resumed.By != "eve" {
		t.Errorf("%+v", resumed)
	}
}

func TestSwitchesThatMakeNoSenseAreRefused(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	for body, text := range map[string]string{`{}`: "what: must be all", `{"what":"node:x"}`: "what: must be all", `{"what":"all","by":"a\nb"}`: "by: has a character"} {
		a.wantError(400, text, a.do("POST", "/control/pause", body))
	}
	a.wantError(400, "what: must be all", a.do("POST", "/control/resume", "{}"))
}
