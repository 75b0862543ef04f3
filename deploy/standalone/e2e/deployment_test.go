package e2e_test

import (
	"flag"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"agent-stop-and-go/deploy/standalone/embedded"
	"agent-stop-and-go/workflows/contract"
)

// waiting is how many approvals wait while versions change.
var waiting = flag.Int("waiting", 12, "how many approvals wait while the versions of workers change")

// version builds the worker as a version of the program, and starts it.
func (h *home) version(version string) *proc {
	h.t.Helper()
	file := filepath.Join(h.t.TempDir(), "worker")
	build := exec.Command("go", "build", "-ldflags", "-X main.version="+version, "-o", file, "./cmd/worker")
	build.Dir = "../../stores"
	if out, err := build.CombinedOutput(); err != nil {
		h.t.Fatalf("build version %s: %v\n%s", version, err, out)
	}
	p := launchFile(h.t, h.dir, file, append(h.environ(), "TEMPORAL_DEPLOYMENT_NAME=shop", "OTEL_METRICS_EXPORTER=none"), "--config", h.machine(version))
	p.serves()
	return p
}

// ramp is a deployment with approvals that wait while its versions change.
type ramp struct {
	t        *testing.T
	home     *home
	api      *api
	operator client.Client
	shell    shellUser
	config   string
	uuids    []string
}

func newRamp(h *home) *ramp {
	r := &ramp{t: h.t, home: h, api: h.pieces(), config: h.configFile()}
	r.operator, r.shell = h.dial(), shellUser{h.t, h.dir, append(h.environ(), "TEMPORAL_DEPLOYMENT_NAME=shop")}
	return r
}

// deployment runs a command, whose output must have the words.
func (r *ramp) deployment(words string, args ...string) {
	r.t.Helper()
	r.shell.prints(append(append([]string{"deployment"}, args...), "--config", r.config), words)
}

// known waits until a version can get work: it is known a moment after its first poll.
func (r *ramp) known(version string) {
	r.t.Helper()
	eventually(r.t, "version "+version+" is known", func() bool {
		d, err := r.operator.WorkerDeploymentClient().GetHandle("shop").Describe(r.t.Context(), client.WorkerDeploymentDescribeOptions{})
		return err == nil && slices.ContainsFunc(d.Info.VersionSummaries, func(v client.WorkerDeploymentVersionSummary) bool {
			return v.Version.BuildID == version
		})
	})
}

// ask starts conversations, each of which waits for an approval.
func (r *ramp) ask(n int) {
	r.t.Helper()
	began := time.Now()
	r.uuids = make([]string, n)
	each(n, func(i int) {
		a := r.api.ask(fmt.Sprintf(`call note_add {"name":"n%d"}`, i)).Result.Approval
		if a == nil {
			r.t.Errorf("conversation %d does not wait", i)
			return
		}
		r.uuids[i] = a.UUID
	})
	r.t.Logf("%d approvals wait, after %s", n, time.Since(began).Round(time.Millisecond))
}

// decide approves a part of what waits, and returns how many approvals each version has finished.
func (r *ramp) decide(step string, part, parts int) map[string]int {
	r.t.Helper()
	mine := r.uuids[len(r.uuids)*part/parts : len(r.uuids)*(part+1)/parts]
	began, took, versions := time.Now(), make([]time.Duration, len(mine)), make([]string, len(mine))
	each(len(mine), func(i int) {
		began := time.Now()
		if said := r.api.decide(mine[i], `{"approved":true}`).Result.Response; !strings.Contains(said, "added n") {
			r.t.Errorf("approval %s: %q", mine[i], said)
		}
		took[i], versions[i] = time.Since(began), versionOf(r.t, r.operator, contract.ApprovalWorkflowID(mine[i]))
	})
	by := map[string]int{}
	for _, v := range versions {
		by[v]++
	}
	slices.Sort(took)
	r.t.Logf("%s: %d decided in %s, each in %s (median) to %s; by version %v",
		step, len(mine), time.Since(began).Round(time.Millisecond), took[len(took)/2].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond), by)
	return by
}

// Approvals wait while the work moves to a new version of the workers, 5 % at first, then all of it,
// and then back. Each is decided with some version, and none is stuck. make ramp does it with 1,000.
func TestApprovalsAreDecidedWhileVersionsChange(t *testing.T) {
	t.Parallel()
	r := newRamp(newHome(t))
	r.home.version("1")
	r.known("1")
	r.deployment("1        all", "current", "1")
	eventually(t, "a worker answers", func() bool {
		ready, err := r.api.try("GET", "/health/ready", "")
		return err == nil && ready.Status == http.StatusOK
	})
	r.ask(*waiting)
	only := func(by map[string]int, version string) {
		t.Helper()
		if len(by) != 1 || by[version] == 0 {
			t.Errorf("finished by versions %v, and all work is that of %s", by, version)
		}
	}
	only(r.decide("one version", 0, 5), "1")
	r.home.version("2")
	r.known("2")
	began := time.Now()
	t.Logf("%s, after %s", r.shell.prints([]string{"replay", "--config", r.config}, "none would break"), time.Since(began).Round(time.Millisecond))
	r.deployment("2        5 %", "ramp", "2", "--percent", "5")
	if by := r.decide("5 %", 1, 5); *waiting >= 1000 && (by["2"] == 0 || by["2"] > by["1"]) {
		t.Errorf("with 5 %% for version 2, approvals were finished by %v", by)
	}
	r.deployment("1        none", "current", "2") // all of it, and the ramp ends
	moved := r.api.ask("hello").Conversation.ID
	r.answeredBy(moved, "2")
	r.decide("all to the new one", 2, 5)
	r.deployment("2        none", "current", "1") // back
	r.answeredBy(moved, "1")
	r.decide("back", 3, 5)
	r.deployment("1        50 %", "ramp", "2", "--percent", "50")
	r.decide("50 %", 4, 5)
	if n := len(r.home.tools.called("note_add")); n != len(r.uuids) {
		t.Errorf("%d calls for %d approvals", n, len(r.uuids))
	}
	r.nothingWaits()
}

// nothingWaits requires that no approval is open.
func (r *ramp) nothingWaits() {
	r.t.Helper()
	eventually(r.t, "nothing waits", func() bool {
		open, err := r.operator.CountWorkflow(r.t.Context(), &workflowservice.CountWorkflowExecutionsRequest{
			Query: "WorkflowType = 'Approval' AND ExecutionStatus = 'Running'",
		})
		return err == nil && open.GetCount() == 0
	})
}

// versionOf is the version that took the last step of a workflow, or what is wrong.
func versionOf(t *testing.T, operator client.Client, id string) string {
	d, err := operator.DescribeWorkflowExecution(t.Context(), id, "")
	if err != nil {
		return err.Error()
	}
	return d.GetWorkflowExecutionInfo().GetVersioningInfo().GetDeploymentVersion().GetBuildId()
}

// answeredBy talks to a conversation until a version answers: a change of shares takes a moment.
func (r *ramp) answeredBy(id, build string) {
	r.t.Helper()
	eventually(r.t, "version "+build+" has the conversation", func() bool {
		r.api.say(id, "hello again")
		return versionOf(r.t, r.operator, contract.ConversationWorkflowID(id)) == build
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
