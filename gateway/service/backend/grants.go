package backend

import (
	"context"
	"errors"

	"go.temporal.io/sdk/temporal"

	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/standing"
)

func (t *Temporal) grants() singleton {
	return singleton{standing.WorkflowID(t.taskQueue), t.taskQueue, standing.Workflow, "approvals that count for later calls, too"}
}

// StandingGrants implements desk.Grants. Without a workflow there are none.
func (t *Temporal) StandingGrants(ctx context.Context) ([]standing.Grant, error) {
	var v standing.View
	_, err := t.queryOpen(ctx, t.grants().id, standing.QueryGrants, &v)
	switch {
	case isNotFound(err):
		return nil, nil
	case isPassing(err):
		return nil, service.Errorf(service.KindUnavailable, silentText).Because(err)
	}
	return v.Grants, fault(err, "read the standing grants")
}

// RevokeGrant implements desk.Grants.
func (t *Temporal) RevokeGrant(ctx context.Context, r standing.Revocation) error {
	err := t.grants().update(ctx, t, standing.UpdateRevoke, standing.Input{}, r, nil)
	var refused *temporal.ApplicationError
	if errors.As(err, &refused) {
		switch kind := contract.Kind(refused.Type()); kind {
		case contract.KindInvalid, contract.KindForbidden, contract.KindNotFound:
			return service.Errorf(kind, "%s", refused.Message())
		}
	}
	if isPassing(err) {
		return service.Errorf(service.KindUnavailable, silentText).Because(err)
	}
	return fault(err, "revoke a standing grant")
}
