package agentapi

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/passcode"
	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
)

// gate is an approval that waits, as clients know it. ToolArgs are the arguments with the operation_type
// by which clients decide; Arguments are those of the call alone, unchanged.
type gate struct {
	GateID      string                     `json:"gate_id"`
	ToolName    string                     `json:"tool_name"`
	ToolArgs    map[string]json.RawMessage `json:"tool_args"`
	Tables      []string                   `json:"tables"`
	Arguments   json.RawMessage            `json:"arguments"`
	Description string                     `json:"description"`
	Server      string                     `json:"server,omitempty"`
	Why         string                     `json:"why,omitempty"`
	URL         string                     `json:"url"`
}

// operationType is the member of tool_args that is not an argument.
const operationType = "operation_type"

// operation is the operation_type of every gate. What is read only needs none, and the name of an
// argument must not make a client take it for such.
const operation = `"write"`

// gateOf returns an approval as clients know it. Nothing is read from the text of arguments, so tables is
// always empty.
func gateOf(p contract.PendingApproval, link string) gate {
	g := gate{
		GateID: p.UUID, ToolName: p.ToolName, Tables: []string{}, Arguments: p.ToolArgs.Raw, Description: p.Description, Server: p.Server,
		Why: passcode.Why(p), URL: link,
	}
	if len(g.Arguments) == 0 {
		g.Arguments = json.RawMessage("{}")
	}
	_ = json.Unmarshal(g.Arguments, &g.ToolArgs) // other arguments than an object are in Arguments
	if g.ToolArgs == nil {
		g.ToolArgs = map[string]json.RawMessage{}
	}
	g.ToolArgs[operationType] = json.RawMessage(operation)
	return g
}

// whole reports whether a gate shows all of what a yes approves: clients may show tool_args alone, where
// an argument named operation_type has no place.
func whole(p contract.PendingApproval) bool {
	var arguments map[string]json.RawMessage
	_ = json.Unmarshal(p.ToolArgs.Raw, &arguments) // other arguments than an object have no names
	_, taken := arguments[operationType]
	return passcode.Whole(p) && !taken
}

// apiGate answers a gate over the API.
func (e *Endpoint) apiGate(c echo.Context) error {
	var in struct {
		Approve json.RawMessage `json:"approve"`
	}
	if err := read(c.Request(), &in, "approve"); err != nil {
		return err
	}
	var approve bool
	switch string(in.Approve) {
	case "true":
		approve = true
	case "false":
	default:
		return invalid("'approve' must be true or false; nothing was decided")
	}
	if err := e.decide(c, c.Param("gate_id"), approve, ChannelAPI); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]string{"status": "ok"})
}

// shellGate answers a gate of the shell.
func (e *Endpoint) shellGate(c echo.Context) error {
	var in struct {
		GateID   string `json:"gate_id"`
		Decision string `json:"decision"`
	}
	if err := read(c.Request(), &in, "gate_id", "decision"); err != nil {
		return err
	}
	if in.Decision != "allow" && in.Decision != "reject" {
		return invalid("'decision' must be allow or reject; nothing was decided")
	}
	if err := e.decide(c, in.GateID, in.Decision == "allow", ChannelShell); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]string{"status": "OK"})
}

// decide sends a decision, and waits until it is known that it counts. The first one does; the same one
// sent again is no error.
func (e *Endpoint) decide(c echo.Context, uuid string, approve bool, via string) error {
	ctx, call := c.Request().Context(), request.From(c.Request().Context())
	if uuid = request.TidyUUID(uuid); !contract.IsUUID(uuid) {
		return service.Errorf(contract.KindNotFound, textNoGate)
	}
	view, err := e.Service.Approval(ctx, uuid)
	switch {
	case service.IsKind(err, contract.KindNotFound):
		return service.Errorf(contract.KindNotFound, textNoGate)
	case err != nil:
		return err
	case view.Result == nil && !passcode.Takes(view.Pending):
		return invalid("this takes more than a yes or a no; decide it at %s", linkTo(call.Caller, uuid))
	case view.Result == nil && approve && !whole(view.Pending):
		return invalid("not all of this is shown here; approve it at %s", linkTo(call.Caller, uuid))
	}
	call.ConversationID = view.Pending.ConversationID
	caller := call.Caller
	if !caller.Authenticated() {
		caller.Token = request.ToolToken(c.Request())
	}
	d := service.Decision{UUID: uuid, Signal: contract.DecideSignal{
		Approved: approve, Via: caller.Via(via, view.Pending, approve), RequestID: contract.NameUUID(uuid, fmt.Sprintf("%s %t %s", via, approve, caller.Own(""))),
	}}
	receipt, err := e.Service.Decide(ctx, caller, d)
	if err != nil {
		return err
	}
	result, err := e.Service.DecisionRecord(ctx, receipt)
	if err != nil {
		return err
	}
	if result.RequestID != d.Signal.RequestID {
		return service.Errorf(contract.KindDecided, "%s", service.AlreadyDecided(result))
	}
	return nil
}
