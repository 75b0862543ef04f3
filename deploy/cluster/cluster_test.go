//go:build cluster

package cluster

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Turns, delegations and approvals work through every gateway and through the page alone, also when a worker is killed
// and PostgreSQL is restarted while an approval waits.
func TestTheChainWorks(t *testing.T) {
	c := startChain(t)
	client := &talk{url: c.url, client: http.DefaultClient}
	for i := range 2 * gatewaysOfA {
		if err := client.approve(fmt.Sprintf("add a resource named apple%d with value 42", i), "apple"); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.ask("ask b: call read_file root=files path=note.txt", "a line to find"); err != nil {
		t.Error(err)
	}
	if err := client.approve("ask c: add a resource named plum with value 5", "plum"); err != nil {
		t.Error(err)
	}

	page := &talk{url: c.web, client: http.DefaultClient}
	if err := page.approve("add a resource named cherry with value 3", "cherry"); err != nil {
		t.Error(err)
	}

	r, err := client.say("add a resource named pear with value 7")
	if err != nil || !r.Result.WaitingApproval {
		t.Fatalf("nothing waits: %+v, %v", r, err)
	}
	c.workers[0].end(t, syscall.SIGKILL)
	c.db.end(t, c.db.stop)
	c.db.start(t)
	decided, err := client.decide(r.Result.Approval.UUID, true)
	if err != nil || !strings.Contains(decided.Result.Response, "pear") {
		t.Errorf("after the death of a worker and a restart of PostgreSQL: %+v, %v", decided, err)
	}
}

// What one gateway started is followed through the other one, piece by piece.
func TestRedisCarriesPiecesBetweenGateways(t *testing.T) {
	c := startChain(t)
	first := &talk{url: c.gateways[0], client: http.DefaultClient}
	if err := first.ask("list the resources", "resources_list"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	events := follow(t, ctx, c.gateways[1]+"/conversations/"+first.id+"/events")
	if err := first.ask("list the resources", "resources_list"); err != nil {
		t.Fatal(err)
	}
	for line := range events {
		if strings.Contains(line, "TEXT_MESSAGE_CONTENT") {
			return
		}
	}
	t.Error("no piece of a reply came")
}

// follow reads the lines of an event stream.
func follow(t *testing.T, ctx context.Context, url string) <-chan string {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		defer resp.Body.Close()
		for s := bufio.NewScanner(resp.Body); s.Scan(); {
			select {
			case lines <- s.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}
