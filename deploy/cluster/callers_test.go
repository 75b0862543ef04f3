//go:build cluster

package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Limits of each caller: burst requests at once and one a second after them, and open
// conversations.
const (
	burst             = 30
	openConversations = 2
)

var delegates = regexp.MustCompile(`(?m)^a2a:\n( .*\n)+`)

// newKeyedChain starts agent a alone, for callers with keys.
func newKeyedChain(t *testing.T) *chain {
	t.Helper()
	c := &chain{t: t, places: map[string]string{}}
	c.edit = func(text string) string {
		auth := fmt.Sprintf("auth: [{type: keys}]\nlimits: {caller: {requests: 60, burst: %d, conversations: %d}}", burst, openConversations)
		return delegates.ReplaceAllString(strings.Replace(text, "auth: none", auth, 1), "")
	}
	c.startShared(startPostgres(t))
	c.startA()
	return c
}

// keys runs agent keys with the file of agent a, and returns what it prints.
func (c *chain) keys(args ...string) string {
	c.t.Helper()
	file := c.file("agent-a.yaml", c.data("a"), 0)
	out, err := program(c.t, "agent", append([]string{"keys"}, append(args, "--config", file)...)...).Output()
	if err != nil {
		c.t.Fatalf("agent keys %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// caller has a key, or a session in a browser.
type caller struct {
	t      *testing.T
	key    string
	client *http.Client
}

func (c *chain) caller(name string, scopes ...string) caller {
	c.t.Helper()
	args := []string{"add", name}
	if len(scopes) > 0 {
		args = append(args, "--scope", strings.Join(scopes, ","))
	}
	return caller{c.t, c.keys(args...), &http.Client{Timeout: time.Minute}}
}

// answer is what a gateway replied.
type answer struct {
	status int
	text   string
	header http.Header
}

// send sends a request to a gateway.
func (a caller) send(method, url, body string) (answer, error) {
	req, err := http.NewRequestWithContext(a.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if req.Header.Set("Content-Type", "application/json"); a.key != "" {
		req.Header.Set("Authorization", "Bearer "+a.key)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, string(text), resp.Header}, err
}

// expect sends a request and wants one of some statuses.
func (a caller) expect(method, url, body string, statuses ...int) (answer, error) {
	got, err := a.send(method, url, body)
	if err == nil && !slices.Contains(statuses, got.status) {
		err = fmt.Errorf("%s %s: status %d, want %v: %s", method, url, got.status, statuses, got.text)
	}
	return got, err
}

// want requires one of some statuses, and returns the reply.
func (a caller) want(method, url, body string, statuses ...int) (r reply) {
	a.t.Helper()
	got, err := a.expect(method, url, body, statuses...)
	if err == nil && got.text != "" {
		err = json.Unmarshal([]byte(got.text), &r)
	}
	if err != nil {
		a.t.Fatal(err)
	}
	return r
}

// reaches waits until the key counts at both gateways.
func (a caller) reaches(gateways []string) {
	a.t.Helper()
	for _, gateway := range gateways {
		eventually(a.t, "the key counts at "+gateway, func() error {
			_, err := a.expect("GET", gateway+"/me", "", 200)
			return err
		})
	}
}

// What counts for a caller counts at both gateways: a key, the session that began with it, the
// limits, and a switch.
func TestCallersAreTheSameAtEveryGateway(t *testing.T) {
	c := newKeyedChain(t)
	c.keyEndsEverywhere()
	c.limitsAreShared()
	c.switchCountsEverywhere()
}

func (c *chain) keyEndsEverywhere() {
	t := c.t
	alice := c.caller("alice")
	alice.reaches(c.gateways)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	page := caller{t, "", &http.Client{Timeout: time.Minute, Jar: jar}}
	page.want("POST", c.url+"/auth/session", fmt.Sprintf(`{"key":%q}`, alice.key), 200)
	turns := 2 * len(c.gateways) // the proxy goes round
	for range turns {
		page.want("GET", c.url+"/me", "", 200)
	}
	c.keys("revoke", "alice")
	for _, gateway := range c.gateways {
		eventually(t, "the key has ended at "+gateway, func() error {
			_, err := alice.expect("GET", gateway+"/me", "", 401)
			return err
		})
	}
	for range turns {
		page.want("GET", c.url+"/me", "", 401)
	}
}

func (c *chain) limitsAreShared() {
	t := c.t
	bob, carol := c.caller("bob"), c.caller("carol")
	began := time.Now()
	bob.reaches(c.gateways)
	var mu sync.Mutex
	taken, refused := 0, map[string]int{}
	var all sync.WaitGroup
	for i := range 4 * burst {
		gateway := c.gateways[i%len(c.gateways)]
		all.Go(func() {
			got, err := bob.expect("GET", gateway+"/me", "", 200, 429)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				t.Error(err)
			case got.status == 200:
				taken++
			case got.header.Get("Retry-After") == "":
				t.Error("no Retry-After")
			default:
				refused[gateway]++
			}
		})
	}
	all.Wait()
	if most := burst + 1 + int(time.Since(began).Seconds()); taken > most || len(refused) != len(c.gateways) {
		t.Errorf("%d requests were taken, at most %d should be; refused: %v", taken, most, refused)
	}

	carol.reaches(c.gateways)
	for i := range openConversations {
		carol.want("POST", c.gateways[i%len(c.gateways)]+"/conversations", "{}", 201)
	}
	for _, gateway := range c.gateways {
		carol.want("POST", gateway+"/conversations", "{}", 429)
	}
}

func (c *chain) switchCountsEverywhere() {
	one, two := c.gateways[0], c.gateways[1]
	dave, ops := c.caller("dave"), c.caller("ops", "read:all", "converse", "operate")
	dave.reaches(c.gateways)
	ops.reaches(c.gateways)
	ops.want("POST", one+"/control/pause", `{"what":"tool:resources_add","reason":"an inventory"}`, 200, 202)
	c.shows(ops, two+"/control/switches", "an inventory")
	asked := dave.want("POST", two+"/conversations", `{"message":"add a resource named fig with value 1"}`, 201)
	held := dave.want("POST", one+"/approvals/"+asked.Result.Approval.UUID, `{"approved":true}`, 200)
	if !held.Result.WaitingApproval {
		c.t.Fatalf("an approved call does not wait: %+v", held)
	}
	dave.want("POST", two+"/control/resume", `{"what":"tool:resources_add"}`, 403)
	ops.want("POST", two+"/control/resume", `{"what":"tool:resources_add"}`, 200, 202)
	c.shows(ops, one+"/conversations/"+asked.Conversation.ID+"?include=messages", "The tool resources_add answered")
}

// shows waits until a reply contains a text.
func (c *chain) shows(a caller, url, text string) {
	c.t.Helper()
	eventually(c.t, text, func() error {
		got, err := a.expect("GET", url, "", 200)
		if err == nil && !strings.Contains(got.text, text) {
			err = fmt.Errorf("GET %s: %s", url, got.text)
		}
		return err
	})
}
