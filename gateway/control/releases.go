package control

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/judgement"
	"agent-stop-and-go/workflows/contract/review"
)

// releaseReply is an approval that waits for more than the rules of now need.
type releaseReply struct {
	UUID           string    `json:"uuid"`
	ConversationID string    `json:"conversation_id"`
	ToolName       string    `json:"tool_name"`
	Server         string    `json:"server,omitempty"`
	CreatedAt      time.Time `json:"created_at"`
	// OpenedUnder and Policy are the versions of the rules that have asked, and that need less.
	OpenedUnder string           `json:"opened_under,omitempty"`
	Policy      string           `json:"policy"`
	Would       *judgement.Would `json:"would"`
	// Released is set, or Error says why not, if that was asked for.
	Released bool   `json:"released,omitempty"`
	Error    string `json:"error,omitempty"`
}

type releasesReply struct {
	Approvals []releaseReply `json:"approvals"`
}

// any reports whether one has been released.
func (r releasesReply) any() bool {
	return slices.ContainsFunc(r.Approvals, func(a releaseReply) bool { return a.Released })
}

func newReleaseReply(i service.WaitingItem) releaseReply {
	last := i.Judgements.Last()
	return releaseReply{
		UUID: i.UUID, ConversationID: i.ConversationID, ToolName: i.ToolName, Server: i.Server, CreatedAt: i.CreatedAt,
		OpenedUnder: i.Policy, Policy: last.Policy, Would: last.Would,
	}
}

// Releasable replies with the approvals that a release would do something for.
func (e *Endpoint) Releasable(c echo.Context) error {
	items, err := e.Service.Releasable(c.Request().Context())
	if err != nil {
		return err
	}
	reply := releasesReply{Approvals: []releaseReply{}}
	for _, item := range items {
		reply.Approvals = append(reply.Approvals, newReleaseReply(item))
	}
	return c.JSON(http.StatusOK, reply)
}

// releaseRequest has Approvals or All.
type releaseRequest struct {
	Approvals []string `json:"approvals"`
	All       bool     `json:"all"`
	// Policy is the version that the caller has seen; "" is any.
	Policy string `json:"policy"`
	Reason string `json:"reason"`
	By     string `json:"by"`
	DryRun bool   `json:"dry_run"`
}

// Release makes the rules of now count for approvals. One that cannot be released says why, and the
// others are. It fails only if none was released.
func (e *Endpoint) Release(c echo.Context) error {
	var in releaseRequest
	if _, err := request.Bind(c.Request(), &in); err != nil {
		return err
	}
	if in.All == (len(in.Approvals) > 0) {
		return service.Errorf(contract.KindInvalid, "expected approvals, a list of their UUIDs, or all, which is every approval of the agent")
	}
	ctx, caller := c.Request().Context(), request.From(c.Request().Context()).Caller
	items, err := e.Service.Releasable(ctx)
	if err != nil {
		return err
	}
	for _, uuid := range in.Approvals {
		if !slices.ContainsFunc(items, func(i service.WaitingItem) bool { return i.UUID == uuid }) {
			return service.Errorf(contract.KindNotFound, "%s: no approval with this UUID waits for more than the rules of now need", service.Printable(uuid))
		}
	}
	if _, err := caller.Note(service.Note{Reason: in.Reason, By: in.By}); err != nil {
		return err
	}
	reply, silent := releasesReply{Approvals: []releaseReply{}}, ""
	for _, item := range items {
		if !in.All && !slices.Contains(in.Approvals, item.UUID) {
			continue
		}
		one := newReleaseReply(item)
		switch {
		case in.Policy != "" && in.Policy != one.Policy:
			one.Error = "the rules are version " + one.Policy + " now"
		case in.DryRun:
		case silent != "":
			one.Error = silent
		default:
			err := e.release(ctx, caller, item, review.Release{Reason: in.Reason, By: in.By}, &one)
			if err != nil && (one.Error == "" || !reply.any()) {
				return err
			}
			if err != nil { // the reply says what was released before
				silent = "not tried, because another one failed"
			}
		}
		reply.Approvals = append(reply.Approvals, one)
	}
	return c.JSON(http.StatusOK, reply)
}

// release releases an approval, or says in the reply why not. It fails if that was no answer.
func (e *Endpoint) release(ctx context.Context, caller service.Caller, item service.WaitingItem, given review.Release, reply *releaseReply) error {
	err := e.Service.Release(ctx, caller, item, given)
	reply.Released = err == nil
	var refused *service.Error
	if !errors.As(err, &refused) {
		return err
	}
	if reply.Error = refused.Text; refused.Kind != service.KindUnavailable {
		return nil
	}
	return err
}
