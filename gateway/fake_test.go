package gateway_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/deletion"
	"agent-stop-and-go/workflows/contract/deputy"
	"agent-stop-and-go/workflows/contract/later"
	"agent-stop-and-go/workflows/contract/rates"
	"agent-stop-and-go/workflows/contract/review"
	"agent-stop-and-go/workflows/contract/switches"
	"agent-stop-and-go/workflows/record/transcript"
)

const (
	someID   = "7f9c24e8-3b12-4fef-91e0-5a1b2c3d4e5f"
	someUUID = "3d0e7a52-9c41-4a8e-b0de-6f5a4b3c2d1e"
	otherID  = "0b8c9d0e-1f2a-4b3c-8d4e-5f6a7b8c9d0e"
)

var epoch = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// fakeBackend answers with its functions. A call without one fails.
type fakeBackend struct {
	StartFn         func(service.StartInput) (service.StartResult, error)
	StartAndAwaitFn func(context.Context, service.StartInput) (contract.AwaitResult, error)
	SignalFn        func(id, signal string, payload any) error
	AdmitFn         func(id string, q contract.ConversationQuery) (contract.ConversationView, error)
	AwaitFn         func(ctx context.Context, id string, requestIDs []string) (contract.AwaitResult, error)
	ConversationFn  func(id, requestID string) (contract.ConversationView, error)
	AttendedFn      func() (bool, error)
	TroubleFn       func(id string) (service.Item, string, error)
	TreeFn          func(id string) (contract.TreeView, error)
	ListFn          func(service.ListQuery) (service.Page[service.Item], error)
	TasksFn         func(service.TaskQuery) (service.TaskPage, error)
	RunningInFn     func(contextID string, limit int) ([]string, error)
	SummaryFn       func() (service.Summary, error)
	DecideFn        func(uuid string, in contract.DecideSignal) error
	DecisionFn      func(ctx context.Context, uuid string) (contract.ApprovalResult, error)
	ApprovalFn      func(uuid string) (contract.ApprovalView, error)
	TypistFn        func(uuid string) (string, error)
	SubjectFn       func(uuid string) (service.Subject, error)
	LaterFn         func(uuid string, d later.Deferral) error
	WaitingFn       func(service.ListQuery) (service.Page[service.WaitingItem], error)
	CatalogueFn     func(context.Context) (contract.Catalogue, error)
	ResourcesFn     func() (contract.ResourceCatalogue, error)
	PromptsFn       func() (contract.PromptCatalogue, error)
	PingFn          func() error
	SetPushFn       func(id string, c service.PushConfig) (service.PushConfig, error)
	PushConfigsFn   func(id string) ([]service.PushConfig, error)
	DeputiesFn      func() (deputy.State, error)
	ChangeDeputies  func(update string, c deputy.Change) error
	SwitchesFn      func() (switches.State, error)
	PauseFn         func(switches.Change) (*switches.State, error)
	ResumeFn        func(switches.Change) (*switches.State, error)
	ReleaseFn       func(string, review.Release) error
	ChangeLimitFn   func(switches.LimitChange) (*switches.State, error)
	RateUsesFn      func() ([]rates.View, bool, error)
	DeletePushFn    func(id, configID string) error
	DeleteFn        func(deletion.Input) (deletion.Result, error)
}

var errUnexpected = errors.New("a call that the test does not expect")

// Start stores the values of the first message, as if the conversation were new.
func (f *fakeBackend) Start(ctx context.Context, in service.StartInput) (service.StartResult, error) {
	if f.StartFn == nil {
		return service.StartResult{}, errUnexpected
	}
	if in.Keep != nil {
		if err := in.Keep(ctx); err != nil {
			return service.StartResult{}, err
		}
	}
	return f.StartFn(in)
}

// StartAndAwait leaves the start to Start by default.
func (f *fakeBackend) StartAndAwait(ctx context.Context, in service.StartInput) (contract.AwaitResult, error) {
	if f.StartAndAwaitFn == nil {
		return contract.AwaitResult{}, service.ErrAgain
	}
	return f.StartAndAwaitFn(ctx, in)
}

func (f *fakeBackend) Signal(_ context.Context, id, signal string, payload any) error {
	if f.SignalFn == nil {
		return errUnexpected
	}
	return f.SignalFn(id, signal, payload)
}

// Admit admits everything by default.
func (f *fakeBackend) Admit(_ context.Context, id string, q contract.ConversationQuery) (contract.ConversationView, error) {
	if f.AdmitFn == nil {
		return viewOf(id), nil
	}
	return f.AdmitFn(id, q)
}

func (f *fakeBackend) Await(ctx context.Context, id string, requestIDs []string) (contract.AwaitResult, error) {
	if f.AwaitFn == nil {
		return contract.AwaitResult{}, errUnexpected
	}
	return f.AwaitFn(ctx, id, requestIDs)
}

func (f *fakeBackend) Conversation(_ context.Context, id, requestID string) (contract.ConversationView, error) {
	if f.ConversationFn == nil {
		return contract.ConversationView{}, errUnexpected
	}
	return f.ConversationFn(id, requestID)
}

// Attended reports a worker by default.
func (f *fakeBackend) Attended(context.Context) (bool, error) {
	if f.AttendedFn == nil {
		return true, nil
	}
	return f.AttendedFn()
}

// Trouble reports none by default.
func (f *fakeBackend) Trouble(_ context.Context, id string) (service.Item, string, error) {
	if f.TroubleFn == nil {
		return service.Item{}, "", nil
	}
	return f.TroubleFn(id)
}

func (f *fakeBackend) Tree(_ context.Context, id string) (contract.TreeView, error) {
	if f.TreeFn == nil {
		return contract.TreeView{}, errUnexpected
	}
	return f.TreeFn(id)
}

func (f *fakeBackend) List(_ context.Context, q service.ListQuery) (service.Page[service.Item], error) {
	if f.ListFn == nil {
		return service.Page[service.Item]{}, errUnexpected
	}
	return f.ListFn(q)
}

func (f *fakeBackend) Tasks(_ context.Context, q service.TaskQuery) (service.TaskPage, error) {
	if f.TasksFn == nil {
		return service.TaskPage{}, errUnexpected
	}
	return f.TasksFn(q)
}

func (f *fakeBackend) Deputies(context.Context) (deputy.State, error) {
	if f.DeputiesFn == nil {
		return deputy.State{}, nil
	}
	return f.DeputiesFn()
}

func (f *fakeBackend) Appoint(_ context.Context, c deputy.Change) error {
	if f.ChangeDeputies == nil {
		return errUnexpected
	}
	return f.ChangeDeputies(deputy.UpdateAppoint, c)
}

func (f *fakeBackend) Revoke(_ context.Context, c deputy.Change) error {
	if f.ChangeDeputies == nil {
		return errUnexpected
	}
	return f.ChangeDeputies(deputy.UpdateRevoke, c)
}

func (f *fakeBackend) Switches(context.Context) (switches.State, error) {
	if f.SwitchesFn == nil {
		return switches.State{}, errUnexpected
	}
	return f.SwitchesFn()
}

func (f *fakeBackend) Pause(_ context.Context, c switches.Change) (*switches.State, error) {
	if f.PauseFn == nil {
		return nil, errUnexpected
	}
	return f.PauseFn(c)
}

func (f *fakeBackend) Resume(_ context.Context, c switches.Change) (*switches.State, error) {
	if f.ResumeFn == nil {
		return nil, errUnexpected
	}
	return f.ResumeFn(c)
}

func (f *fakeBackend) ChangeLimit(_ context.Context, c switches.LimitChange) (*switches.State, error) {
	if f.ChangeLimitFn == nil {
		return nil, errUnexpected
	}
	return f.ChangeLimitFn(c)
}

func (f *fakeBackend) Release(_ context.Context, uuid string, in review.Release) error {
	if f.ReleaseFn == nil {
		return errUnexpected
	}
	return f.ReleaseFn(uuid, in)
}

func (f *fakeBackend) RateUses(context.Context) ([]rates.View, bool, error) {
	if f.RateUsesFn == nil {
		return nil, false, errUnexpected
	}
	return f.RateUsesFn()
}

// Owner says that nobody owns a conversation.
func (f *fakeBackend) Owner(context.Context, string) (service.Owner, error) {
	return service.Owner{}, nil
}

func (f *fakeBackend) Delete(_ context.Context, in deletion.Input) (deletion.Result, error) {
	if f.DeleteFn == nil {
		return deletion.Result{}, errUnexpected
	}
	return f.DeleteFn(in)
}

// RunningIn finds nothing by default, like visibility that lags.
func (f *fakeBackend) RunningIn(_ context.Context, contextID string, _ service.Whose, limit int) ([]string, error) {
	if f.RunningInFn == nil {
		return nil, nil
	}
	return f.RunningInFn(contextID, limit)
}

func (f *fakeBackend) Summary(context.Context, service.Whose) (service.Summary, error) {
	if f.SummaryFn == nil {
		return service.Summary{}, nil
	}
	return f.SummaryFn()
}

func (f *fakeBackend) Decide(_ context.Context, uuid string, in contract.DecideSignal) (*contract.ApprovalResult, error) {
	if f.DecideFn == nil {
		return nil, errUnexpected
	}
	return nil, f.DecideFn(uuid, in)
}

func (f *fakeBackend) Decision(ctx context.Context, uuid string) (contract.ApprovalResult, error) {
	if f.DecisionFn == nil {
		return contract.ApprovalResult{}, errUnexpected
	}
	return f.DecisionFn(ctx, uuid)
}

func (f *fakeBackend) Approval(_ context.Context, uuid string) (contract.ApprovalView, error) {
	if f.ApprovalFn == nil {
		return contract.ApprovalView{}, errUnexpected
	}
	return f.ApprovalFn(uuid)
}

func (f *fakeBackend) Typist(_ context.Context, uuid string) (string, error) {
	if f.TypistFn == nil {
		return "", errUnexpected
	}
	return f.TypistFn(uuid)
}

func (f *fakeBackend) Subject(_ context.Context, uuid string) (service.Subject, error) {
	if f.SubjectFn == nil {
		return service.Subject{ConversationID: someID}, nil
	}
	return f.SubjectFn(uuid)
}

func (f *fakeBackend) Later(_ context.Context, uuid string, d later.Deferral) error {
	if f.LaterFn == nil {
		return errUnexpected
	}
	return f.LaterFn(uuid, d)
}

func (f *fakeBackend) Waiting(_ context.Context, q service.ListQuery) (service.Page[service.WaitingItem], error) {
	if f.WaitingFn == nil {
		return service.Page[service.WaitingItem]{}, errUnexpected
	}
	return f.WaitingFn(q)
}

func (f *fakeBackend) Catalogue(ctx context.Context) (contract.Catalogue, error) {
	if f.CatalogueFn == nil {
		return contract.Catalogue{}, errUnexpected
	}
	return f.CatalogueFn(ctx)
}

func (f *fakeBackend) Resources(context.Context) (contract.ResourceCatalogue, error) {
	if f.ResourcesFn == nil {
		return contract.ResourceCatalogue{}, errUnexpected
	}
	return f.ResourcesFn()
}

func (f *fakeBackend) Prompts(context.Context) (contract.PromptCatalogue, error) {
	if f.PromptsFn == nil {
		return contract.PromptCatalogue{}, errUnexpected
	}
	return f.PromptsFn()
}

func (f *fakeBackend) Ping(context.Context) error {
	if f.PingFn == nil {
		return nil
	}
	return f.PingFn()
}

func (f *fakeBackend) SetPush(_ context.Context, id string, c service.PushConfig) (service.PushConfig, error) {
	if f.SetPushFn == nil {
		return service.PushConfig{}, errUnexpected
	}
	return f.SetPushFn(id, c)
}

func (f *fakeBackend) PushConfigs(_ context.Context, id string) ([]service.PushConfig, error) {
	if f.PushConfigsFn == nil {
		return nil, errUnexpected
	}
	return f.PushConfigsFn(id)
}

func (f *fakeBackend) DeletePush(_ context.Context, id, configID string) error {
	if f.DeletePushFn == nil {
		return errUnexpected
	}
	return f.DeletePushFn(id, configID)
}

func viewOf(id string) contract.ConversationView {
	return contract.ConversationView{
		ID: id, SessionID: "s1", Status: contract.StatusActive, CreatedAt: epoch, UpdatedAt: epoch, Version: 1,
	}
}

// answering settles every request with a text.
func answering(response string) func(context.Context, string, []string) (contract.AwaitResult, error) {
	return settling(contract.Request{Settled: true, Result: &contract.Result{Response: contract.Inline(response)}})
}

func settling(r contract.Request) func(context.Context, string, []string) (contract.AwaitResult, error) {
	return func(_ context.Context, id string, requestIDs []string) (contract.AwaitResult, error) {
		out := contract.AwaitResult{Conversation: viewOf(id)}
		for _, rid := range requestIDs {
			settled := r // requests are awaited concurrently
			settled.ID = rid
			out.Settled = append(out.Settled, settled)
		}
		return out, nil
	}
}

// never blocks until its context ends.
func never(ctx context.Context, _ string, _ []string) (contract.AwaitResult, error) {
	<-ctx.Done()
	return contract.AwaitResult{}, fmt.Errorf("%w: %w", service.ErrAgain, ctx.Err())
}

// memory is a blob store.
type memory struct {
	mu   sync.Mutex
	data map[string][]byte
	full error // the error of Put
}

func (m *memory) Put(_ context.Context, data []byte) (contract.Blob, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full != nil {
		return contract.Blob{}, m.full
	}
	if m.data == nil {
		m.data = map[string][]byte{}
	}
	b := contract.NewBlob(data)
	m.data[b.SHA256] = data
	return b, nil
}

func (m *memory) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.data)
}

func (m *memory) Get(_ context.Context, b contract.Blob) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, ok := m.data[b.SHA256]
	if !ok {
		return nil, &transcript.Loss{Blob: b, Why: "it is not in the blob store"}
	}
	return data, nil
}
