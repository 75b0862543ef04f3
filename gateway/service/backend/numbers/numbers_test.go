package numbers_test

import (
	"context"
	"errors"
	"testing"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/backend/numbers"
)

// failing is a Temporal whose queries fail. It has nothing else.
type failing struct {
	client.Client
	err error
}

func (f failing) QueryWorkflow(context.Context, string, string, string, ...any) (converter.EncodedValue, error) {
	return nil, f.err
}

// Numbers that nobody can give now are unavailable, and every other error is one of this program.
func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		err         error
		unavailable bool
	}{
		"no worker answers":     {context.DeadlineExceeded, true},
		"Temporal is away":      {serviceerror.NewUnavailable("down"), true},
		"Temporal is busy":      {&serviceerror.ResourceExhausted{Message: "busy"}, true},
		"the query is unknown":  {serviceerror.NewQueryFailed("unknown query"), false},
		"something else breaks": {errors.New("cannot decode"), false},
	} {
		n := numbers.Numbers{Client: failing{err: c.err}}
		if _, err := n.Of(t.Context(), service.Caller{}, []string{"x"}); err == nil || service.IsKind(err, service.KindUnavailable) != c.unavailable {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := n.Find(t.Context(), service.Caller{}, 101); err == nil || service.IsKind(err, service.KindUnavailable) != c.unavailable {
			t.Errorf("find, %s: %v", name, err)
		}
	}
	if id, err := (numbers.Numbers{Client: failing{err: serviceerror.NewNotFound("none")}}).Find(t.Context(), service.Caller{}, 101); id != "" || err != nil {
		t.Errorf("nobody has asked for numbers: %s %v", id, err)
	}
}
