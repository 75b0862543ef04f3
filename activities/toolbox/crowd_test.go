package toolbox_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"agent-stop-and-go/activities/toolbox"
	"agent-stop-and-go/workflows/contract"
)

// While a server is killed and restarted, the outcome of every call is reported correctly.
func TestACrowdOfCallsSurvivesARestart(t *testing.T) {
	before := runtime.NumGoroutine()
	p := newProbe()
	start := map[string]func(s *site){
		toolbox.HTTP: func(s *site) { s.start(newMCP(p)) },
		toolbox.SSE:  func(s *site) { s.startHandler(server.NewSSEServer(newMCP(p))) },
	}
	for kind, start := range start {
		t.Run(kind, func(t *testing.T) {
			place := newSite(t)
			start(place)
			web := place.server("web")
			if kind == toolbox.SSE {
				web = place.sse("web")
			}
			box := openServers(t, web, child(t, "child"))
			crowd(t, box, p, kind, func() { place.kill(); start(place) })
			if err := box.Close(); err != nil {
				t.Error(err)
			}
			place.kill()
		})
	}
	eventually(t, "all goroutines end", func() bool { return runtime.NumGoroutine() <= before })
}

func crowd(t *testing.T, box *toolbox.Toolbox, p *probe, name string, restart func()) {
	const calls = 200
	outcomes := make([]contract.Kind, calls)
	halfway := make(chan struct{}, calls)
	var wg sync.WaitGroup
	for i := range calls {
		wg.Go(func() {
			defer func() { halfway <- struct{}{} }()
			c := toolbox.Call{Server: "child", Tool: "echo", Arguments: fmt.Appendf(nil, `{"text":"%d"}`, i)}
			if i%2 == 0 {
				c = toolbox.Call{Server: "web", Tool: "touch", Arguments: fmt.Appendf(nil, `{"note":"%s %d"}`, name, i), Destructive: true}
			}
			result, err := box.Call(t.Context(), c)
			switch {
			case err != nil:
				outcomes[i] = kindOf(err)
			case i%2 == 1 && result.Text != fmt.Sprint(i):
				t.Errorf("call %d got the answer %q", i, result.Text)
			}
		})
	}
	for range calls / 4 {
		within(t, "a call ends", halfway)
	}
	restart()
	wg.Wait()
	ran := map[string]int{}
	for _, note := range p.notes() {
		ran[note]++
	}
	tally := map[contract.Kind]int{}
	for i, kind := range outcomes {
		tally[kind]++
		if i%2 == 1 {
			if kind != "" {
				t.Errorf("call %d of the other server: %s", i, kind)
			}
			continue
		}
		n := ran[fmt.Sprintf("%s %d", name, i)]
		wrong := map[contract.Kind]bool{"": n != 1, contract.KindOutcomeUnknown: n > 1, contract.KindToolUnavailable: n != 0}
		if bad, known := wrong[kind]; bad || !known {
			t.Errorf("call %d ran %d times and ended as %q", i, n, kind)
		}
	}
	t.Logf("outcomes: %v", tally)
}
