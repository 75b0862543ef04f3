package gateway

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"strconv"

	"github.com/labstack/echo/v4"

	"agent-stop-and-go/gateway/service"
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
	token, ok := decodeCursor(c.QueryParam("cursor"))
	if !ok {
		return q, service.BadCursor()
	}
	q.Token = token
	return q, nil
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

// A cursor is Temporal's page token behind its checksum, so that a mangled one
// is told from a fault of ours.
func encodeCursor(token []byte) string {
	if len(token) == 0 {
		return ""
	}
	sum := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(token))
	return base64.RawURLEncoding.EncodeToString(append(sum, token...))
}

func decodeCursor(s string) (token []byte, ok bool) {
	if s == "" {
		return nil, true
	}
	data, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(data) < 5 {
		return nil, false
	}
	token = data[4:]
	return token, binary.BigEndian.Uint32(data) == crc32.ChecksumIEEE(token)
}

// orEmpty makes a list that is [] in JSON and never null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
