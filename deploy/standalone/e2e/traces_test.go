package e2e_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"agent-stop-and-go/deploy/standalone/embedded"
	"agent-stop-and-go/workflows/contract"
)

// span is a span that a process has exported.
type span struct {
	*tracepb.Span
	service string
}

// spans collects what is exported over OTLP.
type spans struct {
	*httptest.Server
	mu  sync.Mutex
	all []span
}

func newSpans(t *testing.T) *spans {
	t.Helper()
	s := &spans{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		var in collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(data, &in)
		}
		if err != nil {
			t.Errorf("export: %v", err)
		}
		s.add(&in)
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *spans) add(in *collector.ExportTraceServiceRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range in.GetResourceSpans() {
		service := ""
		for _, a := range r.GetResource().GetAttributes() {
			if a.GetKey() == "service.name" {
				service = a.GetValue().GetStringValue()
			}
		}
		for _, scope := range r.GetScopeSpans() {
			for _, x := range scope.GetSpans() {
				s.all = append(s.all, span{x, service})
			}
		}
	}
}

// of returns the spans of the trace with the first span that has a name and a service.
func (s *spans) of(service, name string) []span {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.all, func(x span) bool { return x.service == service && x.GetName() == name })
	if i < 0 {
		return nil
	}
	trace := string(s.all[i].GetTraceId())
	return slices.DeleteFunc(slices.Clone(s.all), func(x span) bool { return string(x.GetTraceId()) != trace })
}

// tree is a text with a line for each span below a parent, indented.
func tree(all []span, parent, indent string) string {
	below := map[string]string{}
	for _, x := range all {
		if string(x.GetParentSpanId()) == parent {
			var events []string
			for _, e := range x.GetEvents() {
				events = append(events, e.GetName())
			}
			line := fmt.Sprintf("%s%s: %s %v\n%s", indent, x.service, x.GetName(), events, tree(all, string(x.GetSpanId()), indent+"  "))
			below[fmt.Sprint(x.GetStartTimeUnixNano(), string(x.GetSpanId()))] = line
		}
	}
	var out strings.Builder
	for _, key := range slices.Sorted(maps.Keys(below)) {
		out.WriteString(below[key])
	}
	return out.String()
}

func (s *spans) watch(h *home) {
	h.more = map[string]string{
		"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": s.URL, "OTEL_METRICS_EXPORTER": "none",
		"OTEL_BSP_SCHEDULE_DELAY": "100", "OTEL_SERVICE_NAME": h.name,
	}
}

func TestATurnIsOneTreeOverTwoAgents(t *testing.T) {
	t.Parallel()
	collected := newSpans(t)
	front, far := newHome(t), newHome(t)
	front.name, far.name = "front", "far"
	front.extra = fmt.Sprintf("a2a:\n  - {name: far, url: 'http://127.0.0.1:%d/a2a'}\n", far.ports.api)
	collected.watch(front)
	collected.watch(far)
	far.outside()
	api, agent := front.outside()
	asked := api.ask(delegating("far", `call note_add {"name":"deep"}`))
	api.decide(asked.Result.Approval.UUID, `{"approved":true}`)
	eventually(t, "the end of the turn", func() bool { return api.conversation(asked.Conversation.ID).Status == "active" })

	const request = "POST /conversations"
	wanted := []string{
		"front: " + request + " []", "\n  front: invoke_agent front [approval opened]", "\n    front: chat openai:test-model []",
		"front: invoke_agent far []", "far: POST /a2a []", "far: invoke_agent far [approval opened]", "far: chat openai:test-model []",
		"far: execute_tool note_add []", "\n  front: invoke_agent front [approval closed]",
	}
	var text string
	eventually(t, "the spans", func() bool {
		text = tree(collected.of("front", request), "", "")
		return !slices.ContainsFunc(wanted, func(line string) bool { return !strings.Contains(text, line) })
	})
	if roots := strings.Count("\n"+text, "\nf"); roots != 1 {
		t.Errorf("%d roots in\n%s", roots, text)
	}
	id := fmt.Sprintf("%x", collected.of("front", request)[0].GetTraceId())
	if calls := far.tools.called("note_add"); len(calls) != 1 || !strings.Contains(calls[0].Traceparent, id) {
		t.Errorf("the tool of trace %s was called with %+v", id, calls)
	}
	agent.kill()
	api, _ = front.outside()
	api.say(asked.Conversation.ID, "hello again") // replays the conversation
	eventually(t, "the second turn", func() bool { return len(collected.of("front", "POST /conversations/:id/messages")) >= 3 })
	seen := map[string]bool{}
	for _, x := range slices.Concat(collected.of("front", request), collected.of("front", "POST /conversations/:id/messages")) {
		id := fmt.Sprintf("%x %x", x.GetTraceId(), x.GetSpanId())
		if seen[id] || x.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR {
			t.Errorf("%s: %s, twice or with an error", id, x.GetName())
		}
		seen[id] = true
	}
}

// A conversation that goes on in a new run has no error in its traces, and each turn is linked to
// the one before, also the first one of a run.
func TestTurnsAreLinkedOverRuns(t *testing.T) {
	t.Parallel()
	collected := newSpans(t)
	h := newHome(t)
	h.name = "long"
	collected.watch(h)
	h.external(embedded.Options{LongHistory: 40})
	api, _ := h.outside()
	c, id := h.dial(), api.ask("hello").Conversation.ID
	turns := 1
	eventually(t, "a third run", func() bool {
		api.say(id, "hello again")
		turns++
		return len(runsOf(t, c, contract.ConversationWorkflowID(id))) >= 3
	})
	api.say(id, "and a turn in it")
	turns++

	var roots []span
	eventually(t, "all turns are exported", func() bool {
		roots = collected.named("invoke_agent long")
		return len(roots) == turns
	})
	slices.SortFunc(roots, func(a, b span) int { return cmp.Compare(a.GetStartTimeUnixNano(), b.GetStartTimeUnixNano()) })
	for i, turn := range roots[1:] {
		if links := turn.GetLinks(); len(links) != 1 || !bytes.Equal(links[0].GetTraceId(), roots[i].GetTraceId()) || bytes.Equal(turn.GetTraceId(), roots[i].GetTraceId()) {
			t.Errorf("turn %d has the links %v, and the one before is the trace %x", i+2, links, roots[i].GetTraceId())
		}
	}
	for _, x := range collected.named("") {
		if x.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR {
			t.Errorf("%s has an error: %s", x.GetName(), x.GetStatus().GetMessage())
		}
	}
}

// named returns the spans with a name, or all.
func (s *spans) named(name string) []span {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.all), func(x span) bool { return name != "" && x.GetName() != name })
}
