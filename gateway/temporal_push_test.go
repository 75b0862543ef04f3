package gateway_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/backend"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/network"
)

// pushing is a Temporal client with one conversation and, once it is started, its webhook
// workflow.
type pushing struct {
	*fakeClient
	options  client.StartWorkflowOptions
	set      []contract.PushConfig
	deleted  []string
	followed int
	states   []contract.PushState
	started  bool
	closed   bool
	over     *contract.ConversationView // the conversation, once it has ended
	state    contract.TaskState         // the state that the webhook workflow got
	long     bool
}

func newPushing(t *testing.T) *pushing {
	p := &pushing{fakeClient: &fakeClient{}}
	p.DescribeFn = func(id string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
		if id != "conversation-"+someID {
			return nil, errMissing
		}
		d := described(enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil)
		d.WorkflowExecutionInfo.SearchAttributes.IndexedFields = payloads(map[string]any{
			contract.AttrConversationID: someID, contract.AttrSessionID: "s-1", contract.AttrAgentName: "older",
		})
		return d, nil
	}
	p.SignalWithStartFn = func(id, signal string, arg any, o client.StartWorkflowOptions, workflow any, args []any) error {
		if id != "push-"+someID || signal != "set" || workflow != "Push" || args[0].(contract.PushInput).ConversationID != someID {
			t.Errorf("%s: %s %v %v", id, signal, workflow, args)
		}
		p.started, p.options, p.set = true, o, append(p.set, arg.(contract.PushConfig))
		return nil
	}
	p.SignalFn = func(id, signal string, arg any) error {
		if !p.started || id == "conversation-"+someID && p.over != nil {
			return errMissing
		}
		switch arg := arg.(type) {
		case contract.PushDelete:
			p.deleted = append(p.deleted, id+" "+signal+" "+arg.ID)
		case contract.PushState:
			p.states = append(p.states, arg)
		default:
			p.followed++
		}
		return nil
	}
	p.QueryFn = func(r *client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
		switch {
		case r.WorkflowID == "conversation-"+someID && p.over != nil:
			return queriedClosed(r, *p.over)
		case r.WorkflowID != "push-"+someID || r.QueryType != "push_configs" || !p.started:
			return nil, errMissing
		case p.closed:
			return queriedClosed(r, contract.PushView{Configs: p.set})
		}
		return queried(contract.PushView{Configs: p.set, State: p.state, Long: p.long})
	}
	return p
}

var aWebhook = service.PushConfig{
	ID: "hook-1", URL: "https://example.com/hook", Token: "t0ken", Scheme: "Bearer", Credentials: "s3cret.with.dots", Protocol: contract.PushProtocol1,
}

func TestTheSecretsOfAWebhookAreSealedAndNeverShown(t *testing.T) {
	p := newPushing(t)
	a := onTemporal(t, p.fakeClient)
	got, err := a.Backend.SetPush(t.Context(), someID, aWebhook)
	if err != nil || got != aWebhook {
		t.Fatalf("%#v, %v", got, err)
	}
	for _, secret := range []string{"t0ken", "s3cret"} {
		if strings.Contains(fmt.Sprintf("%+v", p.set), secret) || strings.Contains(fmt.Sprintf("%v %+v %#v", got, got, got), secret) {
			t.Error("a secret can be read")
		}
	}
	token, err := a.keys.Open(contract.PushSeal(someID, aWebhook.URL), p.set[0].Token, epoch)
	if err != nil || token.Bearer != "t0ken" {
		t.Errorf("sealed %q: %v", token.Bearer, err)
	}
	shown := aWebhook
	shown.Token, shown.Credentials = "[set]", "[set]"
	if list, err := a.Backend.PushConfigs(t.Context(), someID); err != nil || !cmp.Equal(list, []service.PushConfig{shown}) {
		t.Errorf("%d webhooks, %v", len(list), err)
	}
	if err := a.Backend.DeletePush(t.Context(), someID, "hook-1"); err != nil || p.deleted[0] != "push-"+someID+" delete hook-1" {
		t.Errorf("deleted %v, %v", p.deleted, err)
	}
}

func TestPushNotificationsAreFoundByTheirConversation(t *testing.T) {
	p := newPushing(t)
	if _, err := onTemporal(t, p.fakeClient).Backend.SetPush(t.Context(), someID, aWebhook); err != nil {
		t.Fatal(err)
	}
	o := p.options
	if o.ID != "push-"+someID || o.TaskQueue != "queue-1" || o.StaticSummary != "helper · push notifications" ||
		o.WorkflowExecutionTimeout != 0 || o.WorkflowRunTimeout != 0 || o.WorkflowIDReusePolicy != enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE {
		t.Errorf("options %+v", o)
	}
	for name, want := range map[string]string{
		contract.AttrAgentName: "older", contract.AttrConversationID: someID, contract.AttrSessionID: "s-1",
	} {
		if got, _ := o.TypedSearchAttributes.GetKeyword(temporal.NewSearchAttributeKeyKeyword(name)); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestAWebhookWithoutAnIDIsGivenOne(t *testing.T) {
	p := newPushing(t)
	a := onTemporal(t, p.fakeClient)
	for protocol, one := range map[string]bool{"": false, "1.0": false, "0.3": true} {
		set := func(url string) string {
			c := aWebhook
			c.ID, c.Protocol, c.URL = "", protocol, url
			got, err := a.Backend.SetPush(t.Context(), someID, c)
			if err != nil || !contract.IsUUID(got.ID) || protocol == "" && got.Protocol != "1.0" {
				t.Errorf("%q: %v, %v", protocol, got, err)
			}
			return got.ID
		}
		first, again, other := set("https://example.com/a"), set("https://example.com/a"), set("https://example.com/b")
		if first != again || (first == other) != one || one && first != someID {
			t.Errorf("%q: %s, again %s, another %s", protocol, first, again, other)
		}
	}
}

// The ID is public, so a guessed token must not be verifiable with it.
func TestTheIDOfAWebhookRevealsNoSecret(t *testing.T) {
	p := newPushing(t)
	b := onTemporal(t, p.fakeClient).Backend
	ids := map[string]bool{}
	for _, secret := range []string{"", "hunter2", "other"} {
		c := aWebhook
		c.ID, c.Token, c.Credentials = "", secret, secret
		got, err := b.SetPush(t.Context(), someID, c)
		if err != nil {
			t.Fatal(err)
		}
		ids[got.ID] = true
	}
	if len(ids) != 1 || len(p.set) != 3 {
		t.Errorf("%d IDs; set %d times, expected that each replaces the one before", len(ids), len(p.set))
	}
}

func kindOf(err error) contract.Kind {
	var e *service.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Kind
}

func TestUnchangedWebhooksWriteNoHistory(t *testing.T) {
	p := newPushing(t)
	b := onTemporal(t, p.fakeClient).Backend
	set := func(c service.PushConfig) error {
		_, err := b.SetPush(t.Context(), someID, c)
		return err
	}
	if err := set(aWebhook); err != nil {
		t.Fatal(err)
	}
	p.state = contract.TaskWorking
	for range 3 {
		if err := set(aWebhook); err != nil {
			t.Fatal(err)
		}
		if err := b.DeletePush(t.Context(), someID, "unknown"); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.set) != 1 || p.followed != 1 || len(p.deleted) > 0 {
		t.Errorf("set %d times, followed %d times, deleted %v", len(p.set), p.followed, p.deleted)
	}
	other := aWebhook
	other.Token = "another"
	p.long = true
	if err := set(other); kindOf(err) != contract.KindBusy {
		t.Errorf("a long run is sent more: %v", err)
	}
	if err := b.DeletePush(t.Context(), someID, aWebhook.ID); kindOf(err) != contract.KindBusy {
		t.Errorf("a long run is sent more: %v", err)
	}
	p.long = false
	if err := set(other); err != nil || len(p.set) != 2 || p.followed != 1 {
		t.Errorf("set %d times, followed %d times, %v", len(p.set), p.followed, err)
	}
}

func TestPushNotificationsOfAnUnknownConversationAreNotFound(t *testing.T) {
	p := newPushing(t)
	b := onTemporal(t, p.fakeClient).Backend
	_, set := b.SetPush(t.Context(), otherID, aWebhook)
	_, list := b.PushConfigs(t.Context(), otherID)
	for name, err := range map[string]error{"set": set, "list": list, "delete": b.DeletePush(t.Context(), otherID, "x")} {
		if kindOf(err) != contract.KindNotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	if p.started {
		t.Error("a workflow was started")
	}
}

func TestAConversationMayHaveNoPushNotifications(t *testing.T) {
	p := newPushing(t)
	b := onTemporal(t, p.fakeClient).Backend
	none := func() {
		t.Helper()
		if list, err := b.PushConfigs(t.Context(), someID); err != nil || len(list) > 0 {
			t.Errorf("%d webhooks, %v", len(list), err)
		}
	}
	none()
	if err := b.DeletePush(t.Context(), someID, "x"); err != nil {
		t.Error(err)
	}
	if _, err := b.SetPush(t.Context(), someID, aWebhook); err != nil {
		t.Fatal(err)
	}
	p.closed = true // a day after the end of the task
	none()
}

func TestATaskNotifiesAFewWebhooksOnly(t *testing.T) {
	p := newPushing(t)
	b := onTemporal(t, p.fakeClient).Backend
	for i := range contract.MaxPushConfigs {
		c := aWebhook
		c.ID = fmt.Sprint("hook-", i)
		if _, err := b.SetPush(t.Context(), someID, c); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.SetPush(t.Context(), someID, aWebhook); err != nil {
		t.Errorf("one that is there may be replaced: %v", err)
	}
	c := aWebhook
	c.ID = "one-more"
	if _, err := b.SetPush(t.Context(), someID, c); kindOf(err) != contract.KindInvalid {
		t.Error(err)
	}
}

func TestInvalidWebhooksAreRefused(t *testing.T) {
	p := newPushing(t)
	a := onTemporal(t, p.fakeClient)
	for want, change := range map[string]func(*service.PushConfig){
		"must begin with":   func(c *service.PushConfig) { c.URL = "ftp://example.com" },
		"not public":        func(c *service.PushConfig) { c.URL = "http://127.0.0.1/" },
		"the id":            func(c *service.PushConfig) { c.ID = strings.Repeat("x", 257) },
		"strange":           func(c *service.PushConfig) { c.ID = "a\nb" },
		"4096 bytes":        func(c *service.PushConfig) { c.Token = strings.Repeat("x", 4097) },
		"have more than":    func(c *service.PushConfig) { c.Credentials = strings.Repeat("x", 4097) },
		"the secret itself": func(c *service.PushConfig) { c.Token = "[set]" },
		"only says that":    func(c *service.PushConfig) { c.Credentials = "[set]" },
		"in a header":       func(c *service.PushConfig) { c.Token = "a\r\nHost: b" },
		"cannot be in":      func(c *service.PushConfig) { c.Credentials = " x" },
		"scheme":            func(c *service.PushConfig) { c.Scheme = "Bearer x" },
		"need an":           func(c *service.PushConfig) { c.Scheme = "" },
		"version":           func(c *service.PushConfig) { c.Protocol = "2.0" },
	} {
		c := aWebhook
		change(&c)
		if _, err := a.Backend.SetPush(t.Context(), someID, c); kindOf(err) != contract.KindInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; expected %q", err, want)
		}
	}
	if p.started {
		t.Error("a workflow was started")
	}
}

func TestPrivateWebhooksMayBeAllowed(t *testing.T) {
	p := newPushing(t)
	a := newAPI(t, nil, onClient(p.fakeClient, func(o *backend.Options) { o.PushReach = network.ReachLoopback }))
	c := aWebhook
	c.URL = "http://localhost:8888/webhook"
	if _, err := a.Backend.SetPush(t.Context(), someID, c); err != nil {
		t.Error(err)
	}
}

func TestSecretsNeedKeys(t *testing.T) {
	p := newPushing(t)
	a := newAPI(t, nil, onClient(p.fakeClient, func(o *backend.Options) { o.Keyring = nil }))
	if _, err := a.Backend.SetPush(t.Context(), someID, aWebhook); kindOf(err) != service.KindUnavailable || p.started {
		t.Error(err)
	}
	if _, err := a.Backend.SetPush(t.Context(), someID, service.PushConfig{URL: aWebhook.URL}); err != nil {
		t.Error(err)
	}
	p.set[0].Token = "v1.gone.x"
	if list, err := a.Backend.PushConfigs(t.Context(), someID); err != nil || list[0].Token != "[set]" { // reading needs no key
		t.Error(list, err)
	}
}

func TestPushNotificationsWithoutTemporal(t *testing.T) {
	p := newPushing(t)
	away := serviceerror.NewUnavailable("away")
	b := onTemporal(t, p.fakeClient).Backend
	p.QueryFn = func(*client.QueryWorkflowWithOptionsRequest) (*client.QueryWorkflowWithOptionsResponse, error) {
		return nil, away
	}
	p.SignalFn = func(string, string, any) error { return away }
	_, set := b.SetPush(t.Context(), someID, aWebhook)
	_, list := b.PushConfigs(t.Context(), someID)
	for name, err := range map[string]error{"set": set, "list": list, "delete": b.DeletePush(t.Context(), someID, "x")} {
		if kindOf(err) != service.KindUnavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAWebhookIsSetBeforeItsConversationStarts(t *testing.T) {
	p := newPushing(t)
	var began []contract.ConversationInput
	p.ExecuteFn = func(_ client.StartWorkflowOptions, _ any, args []any) (client.WorkflowRun, error) {
		if !p.started {
			t.Error("the conversation has no webhook")
		}
		began = append(began, args[0].(contract.ConversationInput))
		return fakeRun{}, nil
	}
	b := onTemporal(t, p.fakeClient).Backend
	start := func(c service.PushConfig) error {
		_, err := b.Start(t.Context(), service.StartInput{Conversation: contract.ConversationInput{ID: someID}, Push: &c})
		return err
	}
	wrong := aWebhook
	wrong.URL = "http://169.254.169.254/"
	if err := start(wrong); kindOf(err) != contract.KindInvalid || p.started || len(began) > 0 {
		t.Errorf("%v, started %v", err, began)
	}
	if err := start(aWebhook); err != nil || len(began) != 1 || !began[0].Notify || p.set[0].ID != "hook-1" {
		t.Errorf("%v, started %+v, set %v", err, began, p.set)
	}
}

func TestANewWebhookGetsTheCurrentState(t *testing.T) {
	p := newPushing(t)
	b := onTemporal(t, p.fakeClient).Backend
	if _, err := b.SetPush(t.Context(), someID, aWebhook); err != nil || p.followed != 1 || len(p.states) > 0 {
		t.Errorf("at work: asked %d times, got %v, %v", p.followed, p.states, err)
	}
	done := viewOf(someID)
	done.Status, done.ContextID, done.Version = contract.StatusCompleted, "ctx", 7
	done.Last = &contract.LastTurn{Outcome: contract.OutcomeDone}
	p.over = &done
	want := contract.PushState{State: contract.TaskCompleted, Version: 7, ContextID: "ctx", At: done.UpdatedAt}
	if _, err := b.SetPush(t.Context(), someID, aWebhook); err != nil || len(p.states) != 1 || p.states[0] != want {
		t.Errorf("over: got %v, %v", p.states, err)
	}
	p.ExecuteFn = func(client.StartWorkflowOptions, any, []any) (client.WorkflowRun, error) {
		return nil, &serviceerror.WorkflowExecutionAlreadyStarted{}
	}
	if _, err := b.Start(t.Context(), service.StartInput{Conversation: contract.ConversationInput{ID: someID}, Push: &aWebhook}); err != nil || len(p.states) != 2 {
		t.Errorf("the message again: got %v, %v", p.states, err)
	}
	done.Status, done.Last, done.Running = contract.StatusActive, nil, true
	if _, err := b.SetPush(t.Context(), someID, aWebhook); err != nil || len(p.states) != 2 {
		t.Errorf("terminated: got %v, %v", p.states, err)
	}
}
