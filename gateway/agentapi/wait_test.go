package agentapi

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// A message that was accepted is not refused afterwards, or the client would send it again.
func TestAWaitThatBreaksOffIsATimeout(t *testing.T) {
	for _, err := range []error{context.DeadlineExceeded, service.ErrClosing, live.ErrSlow, fmt.Errorf("reading: %w", live.ErrSlow), service.Errorf(service.KindUnavailable, "later")} {
		got := &collector{waiting: []string{"it waits"}}
		if failed := got.broken(err); failed != nil || got.status != statusTimeout || got.text.String() != "it waits" {
			t.Errorf("%v: %v %s %q", err, failed, got.status, got.text.String())
		}
	}
	got := &collector{}
	if err := got.broken(service.Errorf(contract.KindNotFound, "gone")); err != nil || got.status != statusCancelled {
		t.Errorf("%v %s", err, got.status)
	}
	broken := errors.New("broken")
	if err := got.broken(broken); err != broken {
		t.Error(err)
	}
}
