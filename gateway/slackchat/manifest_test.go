package slackchat_test

import (
	"os"
	"slices"
	"testing"

	"gopkg.in/yaml.v3"

	"agent-stop-and-go/gateway/slackchat/fakeslack"
)

// scopes are those that Slack's documentation names for the methods that the app calls, in each kind of
// channel. Methods without an entry are not to be called.
var scopes = map[string][]string{
	"agents.sessions.setStatus": {"chat:write"},
	"chat.startStream":          {"chat:write"},
	"chat.appendStream":         {"chat:write"},
	"chat.stopStream":           {"chat:write"},
	"auth.test":                 nil,
	"apps.connections.open":     nil, // of the other token
	"views.open":                nil,
	"chat.postMessage":          {"chat:write"},
	"chat.postEphemeral":        {"chat:write"},
	"chat.update":               {"chat:write"},
	"chat.delete":               {"chat:write"},
	"conversations.open":        {"im:write"},
	"conversations.history":     {"im:history"},
	"conversations.replies":     {"channels:history", "groups:history", "im:history", "mpim:history"},
	"users.info":                {"users:read"},
}

// The manifest asks for what the app needs, and for nothing else.
func TestTheManifest(t *testing.T) {
	data, err := os.ReadFile("../../deploy/slack/manifest.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var m struct {
		Features struct {
			Commands []struct{ Command string } `yaml:"slash_commands"`
		}
		OAuth struct {
			Scopes struct{ Bot []string }
		} `yaml:"oauth_config"`
		Settings struct {
			Subscriptions struct {
				Events []string `yaml:"bot_events"`
			} `yaml:"event_subscriptions"`
			Interactivity struct {
				Enabled bool `yaml:"is_enabled"`
			}
			SocketMode bool `yaml:"socket_mode_enabled"`
		}
	}
	if err := yaml.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	needed := []string{"commands", "app_mentions:read"} // /agent, and the event app_mention
	for _, of := range scopes {
		needed = append(needed, of...)
	}
	slices.Sort(needed)
	needed = slices.Compact(needed)
	slices.Sort(m.OAuth.Scopes.Bot)
	if !slices.Equal(m.OAuth.Scopes.Bot, needed) {
		t.Errorf("the scopes are %v, needed are %v", m.OAuth.Scopes.Bot, needed)
	}
	if s := m.Settings; !slices.Equal(s.Subscriptions.Events, []string{"app_mention", "message.im"}) || !s.Interactivity.Enabled || !s.SocketMode {
		t.Errorf("%+v", s)
	}
	if c := m.Features.Commands; len(c) != 1 || c[0].Command != "/agent" {
		t.Errorf("%+v", c)
	}
	for _, method := range fakeslack.Methods() {
		if _, known := scopes[method]; !known {
			t.Errorf("nothing says which scope %s needs", method)
		}
	}
}
