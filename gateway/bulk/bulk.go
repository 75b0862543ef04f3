// Package bulk carries out several decisions of one request.
//
//	POST /approvals    {"decisions":[{"uuid":"…","approved":true,"tool_args_sha256":"…"},…]}
//
// Each is carried out as if it had come alone, with all of its checks. One that fails does not keep
// others from being carried out, and the reply says what became of each.
package bulk

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/errgroup"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

const (
	maximum  = 100 // decisions in a request
	together = 8   // that are carried out at a time
)

// Decision is one decision of several.
type Decision struct {
	UUID     string `json:"uuid"`
	Approved *bool  `json:"approved"`
	// Digest is that of the arguments that the person has seen; "" is not checked.
	Digest string `json:"tool_args_sha256"`
	Reason string `json:"reason"`
	By     string `json:"by"`
}

// Result says what became of a decision. Status is the one that it would have had alone.
type Result struct {
	UUID     string                   `json:"uuid"`
	Status   int                      `json:"status"`
	Decision *contract.ApprovalResult `json:"decision,omitempty"`
	Error    string                   `json:"error,omitempty"`
}

// Read reads the decisions of a request. What is wrong with any of them refuses all.
func Read(c echo.Context) ([]Decision, error) {
	var body struct {
		Decisions []json.RawMessage `json:"decisions"`
	}
	if _, err := request.Bind(c.Request(), &body); err != nil {
		return nil, err
	}
	if n := len(body.Decisions); n == 0 || n > maximum {
		return nil, service.Errorf(contract.KindInvalid, "decisions: must have 1 to %d items", maximum)
	}
	decisions, seen := make([]Decision, len(body.Decisions)), map[string]bool{}
	for i, raw := range body.Decisions {
		if err := request.Strict(raw, &decisions[i]); err != nil {
			return nil, err
		}
		twice := request.Duplicate(raw, "uuid", "approved", "tool_args_sha256")
		switch d := decisions[i]; {
		case twice != "":
			return nil, service.Errorf(contract.KindInvalid, "decisions[%d]: %s is there twice", i, twice)
		case d.Approved == nil:
			return nil, service.Errorf(contract.KindInvalid, "decisions[%d]: approved is required", i)
		case seen[d.UUID]:
			return nil, service.Errorf(contract.KindInvalid, "decisions[%d]: %s is there twice", i, service.Printable(d.UUID))
		}
		seen[decisions[i].UUID] = true
	}
	return decisions, nil
}

// Reply carries out decisions and replies with the results, in the same order.
func Reply(c echo.Context, decisions []Decision, one func(Decision) Result) error {
	results := make([]Result, len(decisions))
	var all errgroup.Group
	all.SetLimit(together)
	for i, d := range decisions {
		all.Go(func() error {
			return service.Guard(func() error { results[i] = one(d); return nil })
		})
	}
	if err := all.Wait(); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string][]Result{"results": results})
}
