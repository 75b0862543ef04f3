package gateway_test

import (
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/workflows/contract/rates"
	"agent-stop-and-go/workflows/contract/switches"
)

func withRates(d *gateway.Deps) {
	d.Rates = []rates.Limit{
		{Name: "db", Server: "db", Per: rates.PerCaller, Calls: 20, In: time.Minute, On: rates.Deny},
		{Name: "deletions", Tool: "delete", Class: rates.Destructive, Per: rates.PerAgent, Calls: 1, In: time.Hour, On: rates.Pause},
	}
}

func TestRateLimitsAreListedWithTheirUseAndChanged(t *testing.T) {
	var state switches.State
	durable := false
	a := newAPI(t, &fakeBackend{
		SwitchesFn: func() (switches.State, error) { return state, nil },
		RateUsesFn: func() ([]rates.View, bool, error) {
			return []rates.View{{Limit: "db", Who: "keys alice", Used: 3, From: epoch}, {Limit: "deletions", Used: 1, Waiting: 2}, {Limit: "gone", Used: 7}}, true, nil
		},
		ChangeLimitFn: func(c switches.LimitChange) (*switches.State, error) {
			c.Since = epoch
			state.Limits = []switches.LimitChange{c}
			if durable {
				return nil, nil
			}
			return &state, nil
		},
	}, withRates)
	const rest = `{"name":"deletions","tool":"delete","class":"destructive","per":"agent","calls":1,"in":"1h0m0s","on_limit":"pause","use":[{"used":1,"waiting":2}]}],"note":"there are more counts than are listed"}` + "\n"
	want := `{"limits":[{"name":"db","server":"db","per":"caller","calls":20,"in":"1m0s","on_limit":"deny","use":[{"who":"keys alice","used":3,"from":"2026-03-01T10:00:00Z"}]},` + rest
	if r := a.want(200, a.do("GET", "/control/limits", "")); r.raw != want {
		t.Errorf("%s", r.raw)
	}
	want = `{"limits":[{"name":"db","server":"db","per":"caller","calls":5,"in":"1m0s","on_limit":"ask","changed":{"reason":"it is slow","by":"ops","since":"2026-03-01T10:00:00Z"},"use":[{"who":"keys alice","used":3,"from":"2026-03-01T10:00:00Z"}]},` + rest
	if r := a.want(200, a.do("POST", "/control/limits", `{"limit":"db","calls":5,"on_limit":"ask","reason":"it is slow","by":"ops"}`)); r.raw != want {
		t.Errorf("%s", r.raw)
	}
	if c := state.Limits[0]; c.Agent != "helper" || c.Limit != "db" || c.In != 0 || c.By != "ops" {
		t.Errorf("%+v", c)
	}
	durable = true
	if r := a.want(202, a.do("POST", "/control/limits", `{"limit":"db","restore":true}`, "X-User: eve")); !strings.Contains(r.raw, "recorded") || !state.Limits[0].Restores() || state.Limits[0].By != "eve" {
		t.Errorf("%s, %+v", r.raw, state)
	}
}

func TestChangesOfRateLimitsThatMakeNoSenseAreRefused(t *testing.T) {
	a := newAPI(t, &fakeBackend{}, withRates)
	for body, text := range map[string]string{
		`{"limit":"db"}`: "expected one or more of calls",
		`{"limit":"db","calls":2,"restore":true}`:  "or restore alone",
		`{"limit":"db","calls":100000}`:            "calls: must be between 1 and 10000",
		`{"limit":"db","in":"fast"}`:               "in: must be a duration",
		`{"limit":"db","in":"1ms"}`:                "in: must be between 1s",
		`{"limit":"db","on_limt":"deny"}`:          "on_limt",
		`{"limit":"db","on_limit":"explode"}`:      "on_limit: must be deny",
		`{"limit":"db","calls":1,"reason":"a\nb"}`: "reason: has a character",
	} {
		a.wantError(400, text, a.do("POST", "/control/limits", body))
	}
	a.wantError(404, "no limit with the name", a.do("POST", "/control/limits", `{"limit":"other","calls":1}`))
	if r := newAPI(t, &fakeBackend{SwitchesFn: func() (switches.State, error) { return switches.State{}, nil }}); r.want(200, r.do("GET", "/control/limits", "")).raw != `{"limits":[]}`+"\n" {
		t.Error("an agent without limits")
	}
}
