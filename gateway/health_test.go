package gateway_test

import (
	"context"
	"strings"
	"testing"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/live"
	"agent-stop-and-go/workflows/contract"
)

// carrier is a feed with a description.
type carrier struct{ kind, problem string }

func (carrier) Subscribe(string) (<-chan contract.Event, func()) { return nil, func() {} }
func (c carrier) Carrier() (kind, problem string)                { return c.kind, c.problem }

func TestReadinessNamesTheFeed(t *testing.T) {
	name := "m"
	for want, feed := range map[string]live.Feed{
		`"events":{"deltas":"none"}`:                                      nil,
		`"events":{"deltas":"memory"}`:                                    carrier{kind: "memory"},
		`"events":{"deltas":"redis","problem":"Redis: connection reset"}`: carrier{"redis", "Redis: connection reset"},
	} {
		a := newAPI(t, &fakeBackend{CatalogueFn: catalogueNamed(&name)}, func(d *gateway.Deps) { d.Feed = feed })
		if reply := a.want(200, a.do("GET", "/health/ready", "")); !strings.Contains(reply.raw, want) || reply.text("status") != "ok" {
			t.Errorf("no %s in %s", want, reply.raw)
		}
	}
}

func TestStrangersGetTheStatusOnly(t *testing.T) {
	for _, problems := range [][]string{nil, {"the key of the model is not set"}} {
		a := newAPI(t, &fakeBackend{
			CatalogueFn: func(context.Context) (contract.Catalogue, error) {
				return contract.Catalogue{Problems: problems, Servers: []contract.ServerState{{Name: "payroll", Ready: true, Tools: 3}}}, nil
			},
		}, func(d *gateway.Deps) { d.Callers = badgesOnly })
		status := 200
		if len(problems) > 0 {
			status = 503
		}
		stranger := a.want(status, a.do("GET", "/health/ready", "")).raw
		known := a.want(status, a.do("GET", "/health/ready", "", badge(person("alice", "read")))).raw
		for _, secret := range append([]string{"payroll"}, problems...) {
			if strings.Contains(stranger, secret) || !strings.Contains(known, secret) {
				t.Errorf("%q: strangers get %s, callers %s", secret, stranger, known)
			}
		}
	}
}
