package gateway_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/workflows/contract"
)

func items(ids ...string) gateway.Page[gateway.Item] {
	var p gateway.Page[gateway.Item]
	for _, id := range ids {
		p.Items = append(p.Items, gateway.Item{ID: id, Status: contract.StatusActive, CreatedAt: epoch})
	}
	return p
}

func TestAnEmptyListIsNotNull(t *testing.T) {
	a := newAPI(t, &fakeBackend{
		ListFn:    func(gateway.ListQuery) (gateway.Page[gateway.Item], error) { return items(), nil },
		WaitingFn: func(gateway.ListQuery) (p gateway.Page[gateway.WaitingItem], err error) { return p, nil },
	})
	const want = `{"conversations":[],"summary":{"total":0,"active":0,"waiting_approval":0,"completed":0}}` + "\n"
	for _, path := range []string{"/conversations", "/conversations?include=messages"} {
		if got := a.want(200, a.do("GET", path, "")).raw; got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
	if got := a.want(200, a.do("GET", "/approvals", "")).raw; got != `{"approvals":[]}`+"\n" {
		t.Error(got)
	}
}

func TestPagesFollowEachOther(t *testing.T) {
	var asked []gateway.ListQuery
	a := newAPI(t, &fakeBackend{ListFn: func(q gateway.ListQuery) (gateway.Page[gateway.Item], error) {
		asked = append(asked, q)
		p := items(someID)
		if len(asked) == 1 {
			p.Next = []byte("token \x00\xff")
		}
		return p, nil
	}})
	first := a.want(200, a.do("GET", "/conversations?limit=1&status=active", ""))
	second := a.want(200, a.do("GET", "/conversations?limit=1&status=active&cursor="+first.text("next_cursor"), ""))
	want := []gateway.ListQuery{
		{Limit: 1, Status: contract.StatusActive},
		{Limit: 1, Status: contract.StatusActive, Token: []byte("token \x00\xff")},
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
	if second.at("next_cursor") != nil {
		t.Error(second.raw)
	}
}

func TestBadListParameters(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	for _, q := range []string{
		"limit=0", "limit=-1", "limit=201", "limit=x", "limit=1.5", "status=done", "include=all",
		"cursor=x", "cursor=AAAA", "cursor=%00", "cursor=AAAAAAAAAAAA",
	} {
		a.wantError(400, "expected", a.do("GET", "/conversations?"+q, ""))
	}
	a.wantError(400, "expected", a.do("GET", "/approvals?limit=0", ""))
}

func TestListWithMessagesLeavesOutWhatIsGone(t *testing.T) {
	a := newAPI(t, &fakeBackend{
		ListFn: func(gateway.ListQuery) (gateway.Page[gateway.Item], error) {
			return items(someID, otherID, someUUID), nil
		},
		ConversationFn: func(id, _ string) (contract.ConversationView, error) {
			if id == otherID {
				return contract.ConversationView{}, gateway.Errorf(contract.KindNotFound, "gone")
			}
			return viewOf(id), nil
		},
	})
	list, _ := a.want(200, a.do("GET", "/conversations?include=messages", "")).at("conversations").([]any)
	if len(list) != 2 || list[0].(map[string]any)["id"] != someID || list[1].(map[string]any)["messages"] == nil {
		t.Errorf("%v", list)
	}
}

func TestOneUnreadableConversationDoesNotHideTheOthers(t *testing.T) {
	lost := contract.Text{Blob: &contract.Blob{SHA256: strings.Repeat("ab", 32), Size: 5000}}
	listed := items(someID, otherID)
	a := newAPI(t, &fakeBackend{
		ListFn: func(gateway.ListQuery) (gateway.Page[gateway.Item], error) { return listed, nil },
		ConversationFn: func(id, _ string) (contract.ConversationView, error) {
			view := viewOf(id)
			if id == otherID {
				view.Transcript.Tail = append(view.Transcript.Tail, contract.Message{ID: someUUID, Role: contract.RoleUser, Content: lost})
			}
			return view, nil
		},
	})
	list, _ := a.want(200, a.do("GET", "/conversations?include=messages", "")).at("conversations").([]any)
	if len(list) != 1 || list[0].(map[string]any)["id"] != someID {
		t.Errorf("%v", list)
	}
	if !strings.Contains(a.logs.String(), otherID) {
		t.Errorf("the log does not name it: %s", a.logs)
	}
	listed = items(otherID) // nothing can be read: that is no empty list
	a.want(500, a.do("GET", "/conversations?include=messages", ""))
}

func TestWhatWaits(t *testing.T) {
	a := newAPI(t, &fakeBackend{WaitingFn: func(gateway.ListQuery) (p gateway.Page[gateway.WaitingItem], err error) {
		p.Items = []gateway.WaitingItem{{UUID: someUUID, ConversationID: someID, ToolName: "resources_add", CreatedAt: epoch}}
		p.Next = []byte("more")
		return p, nil
	}})
	reply := a.want(200, a.do("GET", "/approvals", ""))
	if list, _ := reply.at("approvals").([]any); len(list) != 1 || reply.text("next_cursor") == "" {
		t.Error(reply.raw)
	}
}

func TestTheSummaryIsCountedOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var counted atomic.Int64
		a := newAPI(t, &fakeBackend{
			ListFn:    func(gateway.ListQuery) (gateway.Page[gateway.Item], error) { return items(), nil },
			SummaryFn: func() (gateway.Summary, error) { return gateway.Summary{Total: counted.Add(1)}, nil },
		})
		for range 3 {
			a.want(200, a.do("GET", "/conversations", ""))
		}
		if counted.Load() != 1 {
			t.Errorf("counted %d times", counted.Load())
		}
		time.Sleep(time.Second)
		if got := a.want(200, a.do("GET", "/conversations", "")).at("summary", "total"); got != 2.0 {
			t.Errorf("total %v", got)
		}
		a.Close()
	})
}

func TestTheCatalogueIsOfNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAPI(t, &fakeBackend{})
		name := "first"
		a.backend.CatalogueFn = catalogueNamed(&name)
		model := func() string { return a.want(200, a.do("GET", "/tools", "")).text("model", "name") }
		got := []string{model()}
		name = "second"
		got = append(got, model()) // asked a moment ago
		time.Sleep(2 * time.Second)
		got = append(got, model())
		a.backend.CatalogueFn = nil
		a.want(200, a.do("GET", "/health/ready", ""))
		time.Sleep(2 * time.Second)
		a.want(503, a.do("GET", "/health/ready", ""))
		if diff := cmp.Diff([]string{"first", "first", "second"}, got); diff != "" {
			t.Error(diff)
		}
		a.Close()
	})
}

func TestAFailedLoadIsNotKept(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	a.wantError(500, "internal", a.do("GET", "/tools", ""))
	name := "back"
	a.backend.CatalogueFn = catalogueNamed(&name)
	a.want(200, a.do("GET", "/tools", ""))
}

func TestListFailures(t *testing.T) {
	down := gateway.Errorf(gateway.KindUnavailable, "the workflow service is not available: %w", errors.New("dial"))
	a := newAPI(t, &fakeBackend{ListFn: func(gateway.ListQuery) (p gateway.Page[gateway.Item], err error) { return p, down }})
	reply := a.do("GET", "/conversations", "")
	a.wantError(503, "not available", reply)
	if reply.header.Get("Retry-After") != "1" {
		t.Error("no Retry-After")
	}
}
