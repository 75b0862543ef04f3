package e2e_test

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
)

var chaosForm = flag.String("form", "", "of the chaos of trees: one (process), split, both; else the seed draws one")

// part is a process that can be killed.
type part struct {
	name string
	rise func() *proc // does not wait until it serves
	proc *proc
}

// estate has two agents under chaos: one whose tree has every kind of node, and far, to which
// it delegates.
type estate struct {
	*home
	far    *home
	plan   plan
	parts  []*part
	apis   []*api // gateways of the agent with the tree
	farAPI *api
	disk   func() // fills a disk for a moment; nil if none was drawn
	end    time.Time

	mu       sync.Mutex
	visitors []*visitor
}

// The guarantees of TestChaos hold for trees with every kind of node and several pending
// approvals, in one process or with separate workers and gateways. Nothing is left running.
func TestChaosOfTrees(t *testing.T) {
	t.Parallel()
	seed := *chaosSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	forms := []string{"one", "split"}
	switch drawn := forms[seed%2]; *chaosForm {
	case "both":
	default:
		forms = []string{cmp.Or(*chaosForm, drawn)}
	}
	t.Logf("SEED=%d, form: %v", seed, forms)
	for n, form := range forms {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			newEstate(t, form, rand.New(rand.NewPCG(seed, uint64(1000+n)))).run(seed)
		})
	}
}

// newEstate draws two agents and starts them.
func newEstate(t *testing.T, form string, r *rand.Rand) *estate {
	t.Helper()
	e := &estate{home: newHome(t), far: newHome(t)}
	e.far.name = "far"
	e.plan = drawPlan(r, fmt.Sprintf("http://127.0.0.1:%d/a2a", e.far.ports.api), form == "split" && r.IntN(4) == 0)
	e.extra = e.plan.yaml()
	e.drawDisk(r)
	e.extra, e.far.extra = e.extra+drawMode(t, r), drawMode(t, r)
	e.add("far", e.far, "agent")
	if form == "one" {
		e.add("agent", e.home, "agent")
		e.apis = []*api{e.apiOf(e.home)}
	} else {
		e.serveAt(fmt.Sprintf("127.0.0.1:%d", e.far.ports.grpc))
		e.add("worker 1", e.home, "worker")
		e.add("worker 2", e.home, "worker")
		for n := range 2 {
			g := *e.home
			g.file, g.ports.api = fmt.Sprintf("gateway%d.yaml", n), freePort(t)
			e.add(fmt.Sprintf("gateway %d", n+1), &g, "gateway")
			e.apis = append(e.apis, e.apiOf(&g))
		}
	}
	e.farAPI = e.apiOf(e.far)
	t.Logf("the tree: %s; tasks: %v", e.plan.root, e.plan.tasks)
	e.restart(e.parts)
	return e
}

func (e *estate) apiOf(h *home) *api {
	a := newAPI(e.t, fmt.Sprintf("http://127.0.0.1:%d", h.ports.api))
	a.http.Timeout = 10 * time.Second
	return a
}

func (e *estate) add(name string, h *home, binary string) {
	file := h.configFile()
	e.parts = append(e.parts, &part{name: name, rise: func() *proc {
		return launch(e.t, h.dir, binary, h.environ(), "--config", file)
	}})
}

// restart kills processes, all before the first starts again.
func (e *estate) restart(parts []*part) {
	for _, p := range parts {
		if p.proc != nil {
			p.proc.kill()
		}
	}
	for _, p := range parts {
		p.proc = p.rise()
	}
	for _, p := range parts {
		p.proc.serves()
	}
}

// run runs the chaos, and checks the result.
func (e *estate) run(seed uint64) {
	e.end = time.Now().Add(*chaosTime)
	var crowd sync.WaitGroup
	for n := range uint64(4) {
		crowd.Go(func() {
			r := rand.New(rand.NewPCG(seed, n))
			for i := 0; time.Now().Before(e.end); i++ {
				e.visit(r, fmt.Sprintf("user-%d-%d", n, i))
			}
		})
	}
	drawn := e.rage(rand.New(rand.NewPCG(seed, 100)))
	crowd.Wait()
	e.t.Logf("drawn: %v", drawn)
	e.judge()
}

// rage kills and breaks processes until the chaos ends, and counts what it did.
func (e *estate) rage(r *rand.Rand) map[string]int {
	drawn := map[string]int{}
	full := time.Now().Add(*chaosTime / time.Duration(2+r.IntN(3)))
	for time.Now().Before(e.end) {
		pause(r, 300, 2500)
		if e.disk != nil && time.Now().After(full) {
			e.disk()
			e.disk = nil
			drawn["full disk"]++
		}
		server := e.tools
		if r.IntN(2) == 0 {
			server = e.far.tools
		}
		if r.IntN(3) == 0 {
			drawn["broken tools"]++
			server.breakDown(true)
			pause(r, 0, 500)
		}
		victims := e.victims(r)
		for _, v := range victims {
			drawn["kill of "+v.name]++
		}
		e.restart(victims)
		server.breakDown(false)
	}
	return drawn
}

// victims draws one process, or some, or all, in the order in which they start again.
func (e *estate) victims(r *rand.Rand) (out []*part) {
	most := []int{1, 1, 2, len(e.parts)}[r.IntN(4)]
	for _, i := range r.Perm(len(e.parts))[:most] {
		out = append(out, e.parts[i])
	}
	return out
}

func pause(r *rand.Rand, least, more int) {
	time.Sleep(time.Duration(least+r.IntN(more)) * time.Millisecond)
}

// insist repeats a request until it has a response.
func (e *estate) insist(a *api, method, path, content string, headers ...string) (reply, bool) {
	last, deadline := "", time.Now().Add(patience)
	for time.Now().Before(deadline) {
		r, err := a.try(method, path, content, headers...)
		if err == nil && r.Status < http.StatusInternalServerError {
			return r, true
		}
		last = fmt.Sprintf("%v, status %d: %.300s", err, r.Status, r.Raw)
		time.Sleep(50 * time.Millisecond)
	}
	e.t.Errorf("%s %s is never answered: %s", method, path, last)
	return reply{}, false
}

// operator returns an operator of a Temporal server that may be down.
func (e *estate) operator(server *home) (operator, func()) {
	lazy, err := client.NewLazyClient(client.Options{
		HostPort: cmp.Or(server.server, fmt.Sprintf("127.0.0.1:%d", server.ports.grpc)), Logger: quiet{},
	})
	if err != nil {
		e.t.Error(err)
	}
	return operator{e.t, lazy}, lazy.Close
}

// nameIn returns the name for the tool in a message or in arguments, or "".
func nameIn(text string) string {
	_, rest, found := strings.Cut(text, `"name":"`)
	name, _, whole := strings.Cut(rest, `"`)
	if !found || !whole {
		return ""
	}
	return name
}
