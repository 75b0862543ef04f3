package own_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/config/own"
)

func TestCheck(t *testing.T) {
	here, outside := own.At(false, "", "127.0.0.1", 8080), own.At(true, "https://agent.example.com/", "0.0.0.0", 8080)
	if here.Base != "http://127.0.0.1:8080" || outside.Base != "https://agent.example.com" || own.At(false, "", "0.0.0.0", 1).Base != "" {
		t.Errorf("places %v, %v", here, outside)
	}
	secret := own.Client{Issuer: "https://login.example.com", ClientID: "shop", ClientSecret: "${SECRET}"}
	code := own.Client{Grant: own.AuthorizationCode}
	for name, tt := range map[string]struct {
		change func(*own.Client)
		from   own.Client
		at     own.Place
		want   string // a part of the only problem
	}{
		"by a secret":               {from: secret, at: own.Place{}},
		"a login":                   {from: code, at: here},
		"a login of each caller":    {from: code, at: outside, change: func(c *own.Client) { c.Per = own.PerCaller }},
		"one login":                 {from: code, at: outside, change: func(c *own.Client) { c.Per = own.PerAgent }},
		"of a registered client":    {from: code, at: here, change: func(c *own.Client) { c.ClientID = "shop" }},
		"of nobody":                 {from: code, at: here, change: func(c *own.Client) { c.Per = own.PerCaller }, want: "per caller needs auth"},
		"of somebody":               {from: code, at: here, change: func(c *own.Client) { c.Per = "user" }, want: "per must be caller or agent"},
		"without an address":        {from: code, at: own.Place{Auth: true}, want: "grant authorization_code needs public_url"},
		"a secret for anybody":      {from: code, at: here, change: func(c *own.Client) { c.ClientID, c.ClientSecret = "shop", "${SECRET}" }, want: "issuer is required"},
		"a secret of nobody":        {from: code, at: here, change: func(c *own.Client) { c.Issuer, c.PrivateKey = "https://a.example", "file:k" }, want: "client_id is required"},
		"a readable secret":         {from: secret, at: here, change: func(c *own.Client) { c.ClientSecret = "hunter2" }, want: "client_secret secrets do not belong"},
		"another grant":             {from: secret, at: here, change: func(c *own.Client) { c.Grant = "password" }, want: "grant must be"},
		"whose token":               {from: secret, at: here, change: func(c *own.Client) { c.Per = own.PerAgent }, want: "per is for grant"},
		"both a secret and a key":   {from: secret, at: here, change: func(c *own.Client) { c.PrivateKey = "file:k" }, want: " needs client_secret or private_key"},
		"over the wire":             {from: secret, at: here, change: func(c *own.Client) { c.Issuer = "http://login.example.com" }, want: "issuer must be https"},
		"no secret for credentials": {from: secret, at: here, change: func(c *own.Client) { c.ClientSecret = "" }, want: " needs client_secret or private_key"},
	} {
		c := tt.from
		if tt.change != nil {
			tt.change(&c)
		}
		var got []string
		c.Check(tt.at, func(key, problem string) { got = append(got, key+" "+problem) })
		if tt.want == "" && len(got) > 0 || tt.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], tt.want)) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
	if !code.OfCallers(outside) || code.OfCallers(here) || secret.OfCallers(outside) {
		t.Error("a login is of callers by default where they prove who they are")
	}
}
