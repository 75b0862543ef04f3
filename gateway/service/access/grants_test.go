package access_test

import (
	"context"
	"reflect"
	"testing"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/access"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/grant"
)

// decided keeps the decision about the approval of alice's conversation, which its owner may decide.
type decided struct {
	store
	in *contract.DecideSignal
}

func (decided) Subject(context.Context, string) (service.Subject, error) {
	return service.Subject{ConversationID: "hers", Owner: hers}, nil
}

func (d decided) Decide(_ context.Context, _ string, in contract.DecideSignal) (*contract.ApprovalResult, error) {
	*d.in = in
	return nil, nil
}

// A grant for calls of others names what lets its giver decide those, not only what lets them decide their
// own.
func TestAGrantNamesWhatLetsItsGiverDecideForOthers(t *testing.T) {
	admin := alice
	admin.Scopes = append(admin.Scopes[:len(admin.Scopes):len(admin.Scopes)], contract.ScopeApproveAll)
	for name, tc := range map[string]struct {
		caller contract.Identity
		always *grant.Choice
		want   []string
	}{
		"one call":                        {admin, nil, []string{contract.ScopeApprove}},
		"later calls, too":                {admin, &grant.Choice{}, []string{contract.ScopeApproveAll}},
		"later calls, by who decides own": {alice, &grant.Choice{}, []string{contract.ScopeApprove}},
	} {
		var in contract.DecideSignal
		b := access.New(decided{in: &in}, nil, true)
		_, err := b.Decide(service.ActingFor(t.Context(), tc.caller), "hers", contract.DecideSignal{Approved: true, Always: tc.always})
		if err != nil || !reflect.DeepEqual(in.Identity.Scopes, tc.want) || in.Identity.Subject != "alice" {
			t.Errorf("%s: %+v %v", name, in.Identity, err)
		}
	}
}
