package workflows_test

import (
	"slices"
	"testing"

	"agent-stop-and-go/workflows/contract"
)

func TestLeanModeRunsEverythingButDestructiveCallsInTheWorker(t *testing.T) {
	tests := map[contract.Execution][]string{
		contract.ExecutionLean: {
			"local generate", `local resources_list{"pattern":"a"}`, "local generate", "local export",
			`regular resources_add{"name":"x","value":1}`, "local generate", "local export", "local export",
		},
		contract.ExecutionRegular: {
			"regular generate", `regular resources_list{"pattern":"a"}`, "regular generate", "local export",
			`regular resources_add{"name":"x","value":1}`, "regular generate", "local export", "local export",
		},
	}
	tests[""] = tests[contract.ExecutionRegular]
	tests[contract.ExecutionAuto] = slices.Clone(tests[contract.ExecutionLean])
	tests[contract.ExecutionAuto][4] = `local resources_add{"name":"x","value":1}`
	for mode, want := range tests {
		t.Run(string(mode), func(t *testing.T) {
			w := &world{GenerateFn: script(asks(list("a")), asks(add("x")), says("Done."))}
			converse(t, w, with(hello(), func(a *contract.Agent) { a.Execution = mode }), func(s *session) {
				s.rest()
				s.approve()
				s.rest()
				end := s.lines()
				same(t, "answer", end[len(end)-1], "assistant: Done.")
			})
			same(t, "activities", trimmed(read(w, &w.log)), want)
		})
	}
}

func TestAutoModeGoesOnWithSlowCallsAsActivities(t *testing.T) {
	w := &world{GenerateFn: script(asks(list("a")), asks(add("x")), says("Done.")), Slow: true}
	s := converse(t, w, with(hello(), func(a *contract.Agent) { a.Execution = contract.ExecutionAuto }), func(s *session) {
		s.rest()
		s.approve()
		s.rest()
		end := s.lines()
		same(t, "answer", end[len(end)-1], "assistant: Done.")
	})
	same(t, "activities", trimmed(read(w, &w.log)), []string{
		"regular generate", `regular resources_list{"pattern":"a"}`, "regular generate", "local export",
		`regular resources_add{"name":"x","value":1}`, "regular generate", "local export", "local export",
	})
	for _, name := range []string{"generate", "call_tool"} {
		same(t, "summary", s.seen.all("start_" + name)[0].Summary, s.seen.all(name)[0].Summary)
	}
	same(t, "calls started by local activities", len(s.seen.all("start_call_tool")), 2)
	same(t, "its attempts", s.seen.options("call_tool").Attempts, 1)
}

func TestLeanModeSaysTheSameInTheWebUI(t *testing.T) {
	w := &world{GenerateFn: script(asks(list("a")), says("Done."))}
	s := converse(t, w, with(hello(), func(a *contract.Agent) { a.Execution = contract.ExecutionLean }), func(s *session) { s.rest() })
	same(t, "model call", s.seen.options("generate").Summary, "demo:rules · 4 messages")
	same(t, "tool call", s.seen.options("call_tool").Summary, "resources_list on resources")
	if !slices.ContainsFunc(s.seen.scheduled, func(x scheduled) bool { return x.Name == "generate" && x.Local && x.Attempts == 3 }) {
		t.Errorf("model calls: %+v", s.seen.scheduled)
	}
}
