package web_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agent-stop-and-go/config/web"
)

// former is a file of the former web process.
const former = `agent_url: "http://localhost:8080"
host: 0.0.0.0
port: 8081
data_dir: ./data
oauth2:
  client_id: "id"
  client_secret: "in-the-file"
  auth_url: "https://login.example.com/authorize?tenant=1"
  token_url: "https://login.example.com/token"
  revoke_url: "https://login.example.com/revoke"
  redirect_url: "http://localhost:8081/callback"
  scopes: [openid, email]
`

func TestFilesOfTheFormerWebProcess(t *testing.T) {
	c, err := web.Parse("web.yaml", []byte(former))
	if err != nil {
		t.Fatal(err)
	}
	if c.Address() != "0.0.0.0:8081" || c.CallbackPath() != "/callback" || c.Base() != "http://localhost:8081" || c.OAuth2.Server() != "login.example.com" {
		t.Errorf("%+v", c)
	}
	if secret, err := c.OAuth2.Secret(nil); err != nil || secret != "in-the-file" {
		t.Errorf("the secret is not read: %v", err)
	}
	if warnings := strings.Join(c.Warnings(), "\n"); !strings.Contains(warnings, "web.yaml:7: oauth2.client_secret: the file has a secret") || strings.Contains(warnings, "in-the-file") {
		t.Errorf("warnings: %s", warnings)
	}
}

func TestTheFileThatShips(t *testing.T) {
	c, err := web.Load("../web.yaml")
	if err != nil || len(c.Warnings()) > 0 || c.Address() != "127.0.0.1:3000" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestMistakes(t *testing.T) {
	const oauth2 = "agent_url: http://a\noauth2: {client_id: c, issuer: 'https://l', redirect_url: 'https://w/callback', scopes: [openid]"
	for text, want := range map[string]string{
		"":                                                              "w.yaml: agent_url is required in web config",
		"agent_url: [a]":                                                "w.yaml:1: agent_url: must be a text",
		"agent_url: ftp://a":                                            "w.yaml:1: agent_url: must be an http or https URL",
		"agent_url: http://u:p@a":                                       "must have no user, query or fragment",
		"agent_url: http://a\nprt: 1":                                   "w.yaml:2: prt: unknown key; did you mean port? allowed here: agent_url, host",
		"agent_url: http://a\ntoken: x":                                 "w.yaml:2: token: unknown key; secrets do not belong in this file",
		"agent_url: http://a\nport: 0":                                  "w.yaml:2: port: 0: must be between 1 and 65535",
		"agent_url: http://a\nport: many":                               "w.yaml:2: port: must be a whole number",
		"agent_url: http://a\nhost: a:1":                                "w.yaml:2: host: \"a:1\": must be a host name",
		"agent_url: http://a\nagent_url: http://b":                      "w.yaml:2: agent_url: is there twice",
		"agent_url: http://a\nallowed_hosts: ['*']":                     "without scheme, port, path and *",
		"agent_url: http://a\nforward_headers: [Cookie]":                "must be the name of a header that no hop",
		"agent_url: http://a\noauth2: yes":                              "w.yaml:2: oauth2: must be a mapping with keys such as client_id and client_secret",
		"agent_url: http://a\noauth2: {}":                               "invalid oauth2 config: client_id is required",
		"agent_url: http://a\noauth2: {client_id: c}":                   "invalid oauth2 config: auth_url is required",
		"agent_url: http://a\n\noauth2: {issuer: http://l}":             "w.yaml:3: oauth2: invalid oauth2 config: at least one scope is required",
		oauth2 + ", auth_url: 'https://l/a'}":                           "oauth2.issuer: either issuer",
		strings.Replace(oauth2, "/callback", "/auth/callback", 1) + "}": `oauth2.redirect_url: its path "/auth/callback" must be /callback`,
		"a: b: c":                              "w.yaml: is no YAML: mapping values",
		"agent_url: http://a\n---\nport: 3000": "w.yaml:2: a second YAML document",
		"- agent_url":                          "must be a mapping with keys such as agent_url and host",
	} {
		if _, err := web.Parse("w.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := web.Parse("w.yaml", []byte("agent_url: &a http://a\npublic_url: *a\nport:\noauth2:\n")); err != nil {
		t.Errorf("an alias, and keys without values: %v", err)
	}
	if _, err := web.Load(filepath.Join(t.TempDir(), "none.yaml")); err == nil || !strings.Contains(err.Error(), "failed to read web config file") {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestTheSecretOfTheClient(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("of a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string { return map[string]string{"SET": "of the environment"}[name] }
	for setting, want := range map[string]string{"": "", "${SET}": "of the environment", "file:" + file: "of a file", "plain": "plain"} {
		if got, err := (&web.OAuth2{ClientSecret: setting}).Secret(getenv); err != nil || got != want {
			t.Errorf("%q: %q, %v", setting, got, err)
		}
	}
	if _, err := (&web.OAuth2{ClientSecret: "${UNSET}"}).Secret(getenv); err == nil || !strings.Contains(err.Error(), "${UNSET} is not set") {
		t.Errorf("%v", err)
	}
}

func TestAPageBehindAPathPrefix(t *testing.T) {
	c, err := web.Parse("w.yaml", []byte(`agent_url: http://a:8080/
public_url: https://example.com/chat/
oauth2: {client_id: c, issuer: 'https://l', redirect_url: 'https://example.com/chat/callback', scopes: [openid]}
`))
	if err != nil {
		t.Fatal(err)
	}
	if c.CallbackPath() != "/callback" || c.Base() != "https://example.com/chat" || c.Agent().String() != "http://a:8080" {
		t.Errorf("callback %s, base %s, agent %s", c.CallbackPath(), c.Base(), c.Agent())
	}
}
