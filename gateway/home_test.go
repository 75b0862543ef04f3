package gateway_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/page"
)

const browser = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"

func withWebUI(d *gateway.Deps) {
	d.Agent.Name, d.Agent.Description, d.WebUI = "help <script>", "It & others", "http://127.0.0.1:8233"
	d.Namespace = "shop"
}

func TestTheFirstPageIsForPeopleOrForPrograms(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	for accept, html := range map[string]bool{
		"": false, "Accept: */*": false, "Accept: application/json": false, browser: true, "Accept: text/html": true,
		"Accept: text/html;q=0.5, application/json": false, "Accept: application/json;q=0.5, text/html;q=0.9": true,
		"Accept: text/html;q=0": false, "Accept: ,;,text/html": true,
	} {
		reply := a.want(200, a.do("GET", "/", "", accept))
		if got := strings.HasPrefix(reply.header.Get("Content-Type"), "text/html"); got != html || !strings.HasPrefix(reply.header.Get("Vary"), "Accept") {
			t.Errorf("%q: a page is %t, expected %t (Vary %q)", accept, got, html, reply.header.Get("Vary"))
		}
	}
}

func TestLinksOfTheFirstPageLeadSomewhere(t *testing.T) {
	a := newAPI(t, &fakeBackend{}, withWebUI)
	links, _ := a.want(200, a.do("GET", "/", "")).at("links").(map[string]any)
	document := a.want(200, a.do("GET", "/", "", browser)).raw
	known := map[string]bool{}
	for _, r := range a.Routes() {
		known[strings.TrimPrefix(r.Path, "/")] = r.Method == "GET" || known[strings.TrimPrefix(r.Path, "/")]
	}
	if workflows := links["temporal_workflows"]; workflows != "http://127.0.0.1:8233/namespaces/shop/workflows/" {
		t.Errorf("workflows are at %v", workflows)
	}
	delete(links, "temporal_workflows") // is no address by itself
	for key, v := range links {
		href, _ := v.(string)
		if key != "temporal_ui" && !known[href] {
			t.Errorf("%s leads to %q, which is no route", key, href)
		}
		if !strings.Contains(document, `href="`+href+`"`) {
			t.Errorf("the page does not link to %q", href)
		}
	}
	if len(links) < 8 || links["temporal_ui"] != "http://127.0.0.1:8233" || links["approvals"] != "approvals" {
		t.Errorf("links %v", links)
	}
	without, _ := newAPI(t, &fakeBackend{}).do("GET", "/", "").at("links").(map[string]any)
	if without["temporal_ui"] != nil {
		t.Errorf("links %v", without)
	}
}

func TestTheFirstPageHasAPolicyAndFiles(t *testing.T) {
	a := newAPI(t, &fakeBackend{}, withWebUI)
	reply := a.want(200, a.do("GET", "/", "", browser))
	if !strings.Contains(reply.raw, "help &lt;script&gt;") || !strings.Contains(reply.raw, "It &amp; others") {
		t.Error(reply.raw)
	}
	if policy := reply.header.Get("Content-Security-Policy"); policy != page.Policy {
		t.Errorf("policy %q", policy)
	}
	if got := a.want(200, a.do("GET", "/page/bundle.js", "")).header.Get("Content-Type"); got != "text/javascript; charset=utf-8" {
		t.Errorf("the script is %q", got)
	}
	a.want(404, a.do("GET", "/page/index.html", ""))
}
