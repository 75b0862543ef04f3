//go:build foreign

package e2e_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// person uses a browser without scripts: it keeps cookies, follows redirects and fills in forms.
type person struct {
	t    *testing.T
	name string
	http *http.Client
}

func newPerson(t *testing.T, name string) person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return person{t, name, &http.Client{Jar: jar, Timeout: time.Minute}}
}

// maxPages bounds the pages of one login.
const maxPages = 10

// visit opens an address, submits every form that it leads to, and returns the last page.
func (p person) visit(address string) (at *url.URL, page string) {
	p.t.Helper()
	resp, err := p.http.Get(address)
	for range maxPages {
		if err != nil {
			p.t.Fatal(err)
		}
		data, err2 := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err2 != nil || resp.StatusCode >= http.StatusBadRequest {
			p.t.Fatalf("%s: %s %v\n%s", resp.Request.URL, resp.Status, err2, data)
		}
		action, fields := p.form(string(data))
		if action == "" {
			return resp.Request.URL, string(data)
		}
		to, err2 := resp.Request.URL.Parse(action)
		if err2 != nil {
			p.t.Fatal(err2)
		}
		resp, err = p.http.PostForm(to.String(), fields)
	}
	p.t.Fatalf("%s leads to more than %d forms", address, maxPages)
	return nil, ""
}

// form returns the first form of a page that is posted, with what a person writes into it.
func (p person) form(page string) (action string, fields url.Values) {
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		p.t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Data != "form" || !strings.EqualFold(attribute(n, "method"), "post") {
			continue
		}
		fields = url.Values{}
		for input := range n.Descendants() {
			if name := attribute(input, "name"); input.Data == "input" && name != "" {
				fields.Set(name, p.value(input))
			}
		}
		return attribute(n, "action"), fields
	}
	return "", nil
}

func (p person) value(input *html.Node) string {
	switch name := attribute(input, "name"); {
	case attribute(input, "type") == "password":
		return "any"
	case name == "login":
		return p.name
	}
	return attribute(input, "value")
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// at returns the API as the person's browser uses it, and the header that its changes have.
func (p person) at(a *api) (own *api, header string) {
	p.t.Helper()
	own = &api{t: p.t, base: a.base, http: p.http}
	var session struct {
		Token string `json:"csrf_token"`
	}
	own.read("/auth/session", &session)
	return own, "X-CSRF-Token: " + session.Token
}
