package gateway

import (
	"strconv"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/request"
	"agent-stop-and-go/gateway/service"
	"agent-stop-and-go/gateway/service/shortid"
	"agent-stop-and-go/workflows/contract"
)

const (
	defaultLimit = 50
	maxLimit     = 200
)

// listQuery reads limit, cursor and status.
func listQuery(c echo.Context) (service.ListQuery, error) {
	q := service.ListQuery{Limit: defaultLimit, Status: contract.Status(c.QueryParam("status"))}
	if s := c.QueryParam("limit"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > maxLimit {
			return q, service.Errorf(contract.KindInvalid, "limit: expected a number from 1 to %d", maxLimit)
		}
		q.Limit = n
	}
	switch q.Status {
	case "", contract.StatusActive, contract.StatusWaitingApproval, contract.StatusCompleted:
	default:
		return q, service.Errorf(contract.KindInvalid, "status: expected %s, %s or %s",
			contract.StatusActive, contract.StatusWaitingApproval, contract.StatusCompleted)
	}
	token, ok := request.DecodeCursor(c.QueryParam("cursor"))
	if !ok {
		return q, service.BadCursor()
	}
	q.Token = token
	return q, nil
}

// idPrefix reads how the IDs of conversations begin, "" for all.
func idPrefix(c echo.Context) (string, error) {
	given := c.QueryParam("id")
	prefix, ok := shortid.Parse(given)
	if given != "" && !ok {
		return "", service.Errorf(contract.KindInvalid, "id: expected at least 4 hexadecimal digits with which the ID of a conversation begins")
	}
	return prefix, nil
}

func includesMessages(c echo.Context) (bool, error) {
	switch c.QueryParam("include") {
	case "":
		return false, nil
	case "messages":
		return true, nil
	}
	return false, service.Errorf(contract.KindInvalid, "include: expected messages")
}

// partOf reads which messages of a conversation are requested.
func partOf(c echo.Context) (service.Part, error) {
	whole, err := includesMessages(c)
	before := c.QueryParam("messages_before")
	if err != nil || before == "" {
		return service.Part{Whole: whole}, err
	}
	n, err := strconv.Atoi(before)
	switch {
	case err != nil || n < 1:
		return service.Part{}, service.Errorf(contract.KindInvalid, "messages_before: expected a number from 1, as a conversation has it")
	case whole:
		return service.Part{}, service.Errorf(contract.KindInvalid, "messages_before: not together with include=messages")
	}
	return service.Part{First: n}, nil
}

// orEmpty returns an empty list for nil, which would be null in JSON.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
