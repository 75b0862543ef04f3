package proof

import (
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"

	"agent-stop-and-go/workflows/credential"
)

// With gives workflows the keys of the gateway. Without keys nothing is proven.
func With(keys *credential.Keyring) interceptor.WorkerInterceptor { return &worker{keys: keys} }

type worker struct {
	interceptor.WorkerInterceptorBase
	keys *credential.Keyring
}

func (w *worker) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	return &inbound{interceptor.WorkflowInboundInterceptorBase{Next: next}, w.keys}
}

type inbound struct {
	interceptor.WorkflowInboundInterceptorBase
	keys *credential.Keyring
}

type keysKey struct{}

func (i *inbound) ExecuteWorkflow(ctx workflow.Context, in *interceptor.ExecuteWorkflowInput) (any, error) {
	return i.Next.ExecuteWorkflow(workflow.WithValue(ctx, keysKey{}, i.keys), in)
}

// Checker checks what was sent to a workflow.
type Checker struct {
	keys *credential.Keyring
	id   string
}

// Of returns the checker of a workflow. The context must come from the workflow's own: those of
// update handlers do not.
func Of(ctx workflow.Context) Checker {
	keys, _ := ctx.Value(keysKey{}).(*credential.Keyring)
	return Checker{keys, workflow.GetInfo(ctx).WorkflowExecution.ID}
}

// Holds reports whether a proof is that of a payload. The answer depends on the keys of the
// worker, so only the validator of an update may ask, which does not run in replays.
func (c Checker) Holds(name string, payload any, proof string) bool {
	return c.keys != nil && c.keys.Proves(c.id, name, payload, proof)
}

// Check is Holds for all other code of a workflow: the answer is recorded. Without a proof there
// is nothing to record.
func (c Checker) Check(ctx workflow.Context, name string, payload any, proof string) (holds bool) {
	if proof == "" {
		return false
	}
	encoded := workflow.SideEffect(ctx, func(workflow.Context) any { return c.Holds(name, payload, proof) })
	return encoded.Get(&holds) == nil && holds
}

// Make returns the proof of a payload that a workflow sends to another one, or "" without keys.
func (c Checker) Make(ctx workflow.Context, workflowID, name string, payload any) (proof string) {
	encoded := workflow.SideEffect(ctx, func(workflow.Context) any {
		if c.keys == nil {
			return ""
		}
		made, err := c.keys.Prove(workflowID, name, payload)
		if err != nil {
			return ""
		}
		return made
	})
	if encoded.Get(&proof) != nil {
		return ""
	}
	return proof
}
