package e2e_test

import (
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"agent-stop-and-go/deploy/standalone/embedded"
	"agent-stop-and-go/workflows/contract"
)

// waiting is how many approvals wait while versions change.
var waiting = flag.Int("waiting", 12, "how many approvals wait while the versions of workers change")

// version starts a worker of a version.
func (h *home) version(build string) *proc {
	h.t.Helper()
	return start(h.t, h.dir, "worker", append(h.environ(), "TEMPORAL_DEPLOYMENT_NAME=shop", "TEMPORAL_WORKER_BUILD_ID="+build, "OTEL_METRICS_EXPORTER=none"), "--config", h.machine(build))
}

// Approvals wait while the work moves to a new version of the workers, 5 % at first, then all of it,
// and then back. Each is decided with some version, and none is stuck.
func TestApprovalsAreDecidedWhileVersionsChange(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	api := h.pieces()
	shell := shellUser{t, h.dir, append(h.environ(), "TEMPORAL_DEPLOYMENT_NAME=shop")}
	config := h.configFile()
	deployment := func(words string, args ...string) {
		t.Helper()
		shell.prints(append(append([]string{"deployment"}, args...), "--config", config), words)
	}
	h.version("1")
	eventually(t, "the first version is current", func() bool { // it is known a moment after its first poll
		_, err := h.dial().WorkerDeploymentClient().GetHandle("shop").Describe(t.Context(), client.WorkerDeploymentDescribeOptions{})
		return err == nil
	})
	deployment("1        all", "current", "1")
	eventually(t, "a worker answers", func() bool {
		r, err := api.try("GET", "/health/ready", "")
		return err == nil && r.Status == http.StatusOK
	})

	uuids := make([]string, *waiting)
	each(len(uuids), func(i int) {
		if a := api.ask(fmt.Sprintf(`call note_add {"name":"n%d"}`, i)).Result.Approval; a != nil {
			uuids[i] = a.UUID
		}
	})
	began := time.Now()
	decide := func(part, parts int) {
		t.Helper()
		from, to := len(uuids)*part/parts, len(uuids)*(part+1)/parts
		each(to-from, func(i int) {
			if r := api.decide(uuids[from+i], `{"approved":true}`); !strings.Contains(r.Result.Response, "added n") {
				t.Errorf("approval %d: %q", from+i, r.Result.Response)
			}
		})
		t.Logf("%d decided after %s", to-from, time.Since(began).Round(time.Millisecond))
	}
	decide(0, 5)
	h.version("2")
	eventually(t, "the second version is known", func() bool {
		out, _ := shell.run(0, "deployment", "status", "--config", config)
		return strings.Contains(out, "2        none")
	})
	deployment("2        5 %", "ramp", "2", "--percent", "5")
	decide(1, 5)
	deployment("1        none", "current", "2") // all of it, and the ramp ends
	decide(2, 5)
	moved := api.ask("hello").Conversation.ID
	h.answeredBy(api, moved, "2")
	deployment("2        none", "current", "1") // back
	h.answeredBy(api, moved, "1")
	decide(3, 5)
	deployment("1        50 %", "ramp", "2", "--percent", "50")
	decide(4, 5)
	if n := len(h.tools.called("note_add")); n != len(uuids) {
		t.Errorf("%d calls for %d approvals", n, len(uuids))
	}
}

// answeredBy talks to a conversation until a version answers: a change of shares takes a moment.
func (h *home) answeredBy(api *api, id, build string) {
	h.t.Helper()
	eventually(h.t, "version "+build+" has the conversation", func() bool {
		api.say(id, "hello again")
		d, err := h.dial().DescribeWorkflowExecution(h.t.Context(), contract.ConversationWorkflowID(id), "")
		return err == nil && d.GetWorkflowExecutionInfo().GetVersioningInfo().GetDeploymentVersion().GetBuildId() == build
	})
}

// each calls f for each number, a few at a time.
func each(n int, f func(int)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, 8)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() { defer func() { <-slots }(); f(i) })
	}
	wg.Wait()
}

// Calls that outlast a workflow task are handed over to the queue of the process that made them, which
// has no versions.
func TestCallsAreHandedOverByVersionedWorkers(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.external(embedded.Options{})
	h.extra += "execution: auto\n"
	h.more["TEMPORAL_DEPLOYMENT_NAME"], h.more["TEMPORAL_WORKER_BUILD_ID"] = "shop", "1"
	config := h.configFile()
	api, _ := func() (*api, *proc) {
		p := launch(t, h.dir, "agent", h.environ(), "--config", config)
		return newAPI(t, fmt.Sprintf("http://127.0.0.1:%d", h.ports.api)), p
	}()
	shell := shellUser{t, h.dir, h.environ()}
	eventually(t, "the version is known", func() bool {
		_, err := h.dial().WorkerDeploymentClient().GetHandle("shop").Describe(t.Context(), client.WorkerDeploymentDescribeOptions{})
		return err == nil
	})
	shell.run(0, "deployment", "current", "1", "--config", config)
	eventually(t, "the agent is ready", func() bool {
		r, err := api.try("GET", "/health/ready", "")
		return err == nil && r.Status == http.StatusOK
	})
	h.model.Always(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(3 * time.Second)
		obedient(w, r)
	})
	asked := time.Now()
	if r := api.ask("hello"); !strings.Contains(r.Result.Response, "You said: hello") {
		t.Errorf("%+v", r.Result)
	}
	if n := len(h.model.Requests()); n != 1 || time.Since(asked) > 15*time.Second {
		t.Errorf("the model was asked %d times, in %s", n, time.Since(asked))
	}
}
