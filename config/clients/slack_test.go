package clients_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/config/clients"
)

func TestSettingsOfSlackAreChecked(t *testing.T) {
	for want, s := range map[string]*clients.Slack{
		"":                                 nil,
		"slack.link_lasts: must be":        {LinkLasts: time.Second},
		"slack.api_url: must be an https":  {LinkLasts: time.Hour, APIURL: "https://slack-gov.com/api"},
		"slack.api_url: must be https":     {LinkLasts: time.Hour, APIURL: "http://slack.example/api/"},
		"slack.api_url: must be an https ": {LinkLasts: time.Hour, APIURL: "https://user:pass@slack-gov.com/api/"},
	} {
		var got string
		clients.Clients{Slack: s}.Check(nil, func(key, problem string) { got = key + ": " + problem })
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q, expected %q", got, want)
		}
	}
	for _, url := range []string{"", "https://slack-gov.com/api/", "http://127.0.0.1:1/api/"} {
		clients.Clients{Slack: &clients.Slack{LinkLasts: time.Hour, APIURL: url}}.Check(nil, func(key, problem string) { t.Errorf("%s: %s %s", url, key, problem) })
	}
}

func TestTokens(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("xapp-2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	environment := func(values ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(values); i += 2 {
				if values[i] == name {
					return values[i+1]
				}
			}
			return ""
		}
	}
	app, bot, err := (&clients.Slack{AppTokenFile: file}).Tokens(environment("SLACK_APP_TOKEN", "xapp-1", "SLACK_BOT_TOKEN", "xoxb-1"))
	if err != nil || app != "xapp-2" || bot != "xoxb-1" {
		t.Errorf("%q %q %v", app, bot, err)
	}
	for want, getenv := range map[string]func(string) string{
		"app_token_file: set SLACK_APP_TOKEN":                     environment(),
		"bot_token_file: set SLACK_BOT_TOKEN":                     environment("SLACK_APP_TOKEN", "xapp-1"),
		"the variable SLACK_APP_TOKEN does not have a token that": environment("SLACK_APP_TOKEN", "secret"),
	} {
		_, _, err := (&clients.Slack{}).Tokens(getenv)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestPageURL(t *testing.T) {
	for want, got := range map[string]string{
		"https://a.example/x":   clients.PageURL("https://a.example/x/", "0.0.0.0", 1),
		"http://127.0.0.1:8080": clients.PageURL("", "127.0.0.1", 8080),
		"http://[::1]:8080":     clients.PageURL("", "::1", 8080),
		"":                      clients.PageURL("", "0.0.0.0", 8080),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
