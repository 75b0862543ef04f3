package e2e_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/gateway/identity/keys"
	"agent-stop-and-go/gateway/slackchat/card"
	"agent-stop-and-go/gateway/slackchat/fakeslack"
	"agent-stop-and-go/workflows/contract"
)

var (
	linkIn  = regexp.MustCompile(`<(http[^|>]+)\|Log in>`)
	fieldIn = regexp.MustCompile(`name="(csrf_token|invitation)" value="([^"]+)"`)
)

// link makes a Slack user who has written who a key says it is, in the way of a browser.
func (f fronts) link(t *testing.T, slack *fakeslack.Slack, user string, scopes ...string) {
	t.Helper()
	key, err := keys.Add(f.keys, "person-"+user, scopes, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var link string
	if !slack.Wait(time.Minute, func() bool {
		for _, m := range slack.Private(user) {
			if found := linkIn.FindStringSubmatch(m.Text); found != nil {
				link = found[1]
			}
		}
		return link != ""
	}) {
		t.Fatalf("%s is not invited: %+v", user, slack.Private(user))
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &api{t: t, base: f.api.base, http: &http.Client{Jar: jar, Timeout: time.Minute}}
	browser.want(200, "POST", "/auth/session", encoded(map[string]any{"key": key}))
	browser.do("GET", strings.TrimPrefix(link, f.api.base), "")
	page := browser.do("GET", "/slack/link", "").Raw
	form := url.Values{}
	for _, field := range fieldIn.FindAllStringSubmatch(page, -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	r := browser.do("POST", "/slack/link", form.Encode(), "Content-Type: application/x-www-form-urlencoded")
	if r.Status != http.StatusOK {
		t.Fatalf("%s is not linked: %d %s\n%s", user, r.Status, r.Raw, page)
	}
}

// A Slack user whom nobody knows does nothing; a linked one does what the account may, and presses no
// button that it may not.
func TestNobodyPassesAGateInSlack(t *testing.T) {
	t.Parallel()
	h, f, slack := gated(t)
	const stranger, requester, approver = "U1", "U2", "U3"
	for _, user := range []string{requester, approver} {
		slack.Say(user, fakeslack.DM(user), "", "hello")
	}
	f.link(t, slack, requester, contract.ScopeConverse, contract.ScopeRead)
	f.link(t, slack, approver, contract.ScopeConverse, contract.ScopeRead, contract.ScopeReadAll, contract.ScopeApprove, contract.ScopeApproveAll)
	told := len(slack.Private(requester)) + len(slack.Private(approver))

	roots, expected, runs := map[string]string{}, map[string]bool{}, 0
	for name, class := range classes {
		for _, user := range []string{stranger, requester} {
			roots[user+name] = slack.Say(user, fakeslack.DM(user), "", fmt.Sprintf(`call %s {"name":%q}`, class.tool, user+name))
		}
		expected[requester+name] = class.asks
		if class.runs {
			runs++
		}
	}
	await := func(what string, holds func() bool) {
		t.Helper()
		if !slack.Wait(time.Minute, holds) {
			t.Fatalf("%s: %+v; problems %v; ran %v; waits %v", what, slack.Sent(), slack.Problems(), h.tools.ran(), waitingCalls(f.api))
		}
	}
	await("the stranger is told to log in each time", func() bool { return len(slack.Private(stranger)) == len(classes) })
	var asked fakeslack.Message
	await("every message of the requester is answered", func() bool {
		for name, class := range classes {
			thread := slack.Thread(fakeslack.DM(requester), roots[requester+name])
			last := thread[len(thread)-1]
			_, working := last.Button(card.Stop)
			_, waits := last.Button(card.Approve)
			if last.User != fakeslack.Bot || working || waits != class.asks {
				return false
			}
			if name == "destructive" {
				asked = last
			}
		}
		return slack.Unacknowledged() == 0
	})
	check := func(when string) {
		t.Helper()
		waits, ran := waitingCalls(f.api), h.tools.ran()
		for name, asks := range expected {
			if waits[name] > 0 != asks || ran[name] > 0 == asks && ran[name] != 0 {
				t.Errorf("%s, %s: waits %d, ran %d", when, name, waits[name], ran[name])
			}
		}
		if n := len(f.api.want(200, "GET", "/conversations?limit=100", "", "X-Subject: olga", "X-Groups: operators").Conversations); n != len(classes) || len(ran) != runs {
			t.Errorf("%s: %d conversations, ran %v", when, n, ran)
		}
	}
	check("sent")
	for _, m := range slack.Sent() {
		if m.Channel == fakeslack.DM(stranger) && m.Only != stranger {
			t.Errorf("the stranger is told %+v", m)
		}
	}
	for n, user := range []string{stranger, requester} {
		before := len(slack.Private(user))
		if err := slack.Press(user, asked, card.Approve); err != nil {
			t.Fatal(err)
		}
		await("who may not approve is told so", func() bool { return len(slack.Private(user)) > before })
		check(fmt.Sprintf("press %d", n))
	}
	if now := len(slack.Private(requester)) + len(slack.Private(approver)); now != told+1 {
		t.Errorf("%d private messages more", now-told)
	}
	if err := slack.Press(approver, asked, card.Approve); err != nil {
		t.Fatal(err)
	}
	await("the approver's press counts", func() bool { return h.tools.ran()[requester+"destructive"] == 1 })
}
