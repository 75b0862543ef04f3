package approval

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/contract/switches"
	"agent-stop-and-go/workflows/run"
	"agent-stop-and-go/workflows/signal"
	"agent-stop-and-go/workflows/wording"
)

// An approval of a paused call registers again at these intervals, in case the Control does not
// know it any more.
const (
	registerFirst = time.Hour
	registerMax   = 24 * time.Hour
)

// viaControl marks the decision of an approval whose call goes on because of a resume.
const viaControl = "control"

// awaitRelease registers a paused call with the Control until that releases it. Without a Control
// nothing is paused. A call that waits for the audit log is released when that can be written.
func (a *approval) awaitRelease(ctx workflow.Context) {
	if a.in.Audited && workflow.Await(ctx, func() bool { return a.recorded }) != nil {
		return
	}
	ch := workflow.GetSignalChannel(ctx, switches.SignalGo)
	w := switches.Wait{Approval: a.in.UUID, Call: switches.Call{Agent: a.in.AgentName, Peer: a.in.RemoteAgent, Server: a.in.Server, Tool: a.in.Tool}}
	for pause := registerFirst; ; pause = min(2*pause, registerMax) {
		unknown := workflow.SignalExternalWorkflow(ctx, switches.WorkflowID, "", switches.SignalWait, w).Get(ctx, nil)
		if unknown != nil {
			pause = time.Second
		}
		ok, err := workflow.AwaitWithOptions(ctx, run.Timeout(pause, wording.SummaryNextRegistration), func() bool { return ch.Len() > 0 })
		switch {
		case err != nil:
			return
		case ok || unknown != nil:
			raw, _ := signal.Receive(ch)
			released := signal.Optional[switches.Release](raw)
			a.released = &released
			return
		}
	}
}
