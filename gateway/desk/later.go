package desk

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/duration"
)

// laterRequest has one of its members.
type laterRequest struct {
	For   *string    `json:"for"`
	Until *time.Time `json:"until"`
}

type laterReply struct {
	UUID          string     `json:"uuid"`
	DeferredUntil *time.Time `json:"deferred_until,omitempty"`
}

// Later puts an approval off for the caller.
func (e *Endpoint) Later(c echo.Context) error {
	var in laterRequest
	if _, err := request.Bind(c.Request(), &in); err != nil {
		return err
	}
	until, err := in.until(time.Now().UTC())
	if err != nil {
		return err
	}
	uuid := c.Param("uuid")
	if !contract.IsUUID(uuid) {
		return service.NoApproval(uuid)
	}
	if err := e.Service.Later(c.Request().Context(), uuid, until); err != nil {
		return err
	}
	reply := laterReply{UUID: uuid}
	if until.After(time.Now()) {
		reply.DeferredUntil = &until
	}
	return c.JSON(http.StatusOK, reply)
}

func (in laterRequest) until(now time.Time) (time.Time, error) {
	switch {
	case (in.For == nil) == (in.Until == nil):
		return time.Time{}, service.Errorf(contract.KindInvalid, `give either "for", such as "2h", or "until", such as %q`, now.Add(2*time.Hour).Format(time.RFC3339))
	case in.Until != nil:
		return in.Until.UTC(), nil
	}
	d, err := duration.Parse(*in.For)
	if err != nil {
		return time.Time{}, service.Errorf(contract.KindInvalid, `"for" is not a duration such as "30m", "2h" or "3d": %q`, service.Printable(*in.For))
	}
	return now.Add(d).Truncate(time.Second), nil
}
