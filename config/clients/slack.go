package clients

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"
)

// Slack are the settings of the agent as an app of a workspace.
type Slack struct {
	AppTokenFile string        `yaml:"app_token_file" jsonschema_description:"The file with the app-level token (xapp-…), which opens the connection. Without the key it is SLACK_APP_TOKEN of the environment."`
	BotTokenFile string        `yaml:"bot_token_file" jsonschema_description:"The file with the token of the bot (xoxb-…), which posts. Without the key it is SLACK_BOT_TOKEN of the environment."`
	LinkLasts    time.Duration `yaml:"link_lasts" jsonschema:"default=168h" jsonschema_description:"With auth: how long a user of Slack is known after a login. At least 1m."`
	APIURL       string        `yaml:"api_url" jsonschema_description:"The https URL of the Web API, such as https://slack-gov.com/api/. Empty: that of slack.com."`
}

// The variables with the tokens.
const (
	AppTokenVariable = "SLACK_APP_TOKEN"
	BotTokenVariable = "SLACK_BOT_TOKEN"
)

// Check reports what is wrong with the settings, by their keys.
func (s *Slack) Check(report func(key, problem string)) {
	if s == nil {
		return
	}
	if s.LinkLasts < time.Minute {
		report("link_lasts", "must be at least 1m")
	}
	if s.APIURL == "" {
		return
	}
	u, err := url.Parse(s.APIURL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || !strings.HasSuffix(u.Path, "/") || u.RawQuery != "" || u.User != nil:
		report("api_url", "must be an https URL that ends with /, such as https://slack-gov.com/api/")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		report("api_url", "must be https: over http, whoever is on the way to it can read the tokens")
	}
}

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// Tokens returns the tokens. Errors name the place of a token, and never show it.
func (s *Slack) Tokens(getenv func(string) string) (app, bot string, err error) {
	if app, err = token(s.AppTokenFile, AppTokenVariable, "xapp-", getenv); err != nil {
		return "", "", fmt.Errorf("clients.slack: app_token_file: %w", err)
	}
	if bot, err = token(s.BotTokenFile, BotTokenVariable, "xoxb-", getenv); err != nil {
		return "", "", fmt.Errorf("clients.slack: bot_token_file: %w", err)
	}
	return app, bot, nil
}

func token(file, variable, prefix string, getenv func(string) string) (string, error) {
	value, place := getenv(variable), "the variable "+variable
	if file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		value, place = string(data), "the file "+file
	}
	value = strings.TrimSpace(value)
	switch {
	case value == "" && file == "":
		return "", fmt.Errorf("set %s, or name a file", variable)
	case !strings.HasPrefix(value, prefix) || strings.ContainsAny(value, " \n\t"):
		return "", fmt.Errorf("%s does not have a token that begins with %s", place, prefix)
	}
	return value, nil
}

// PageURL is the URL at which people open the page of an agent that listens on an address, "" if
// nothing says so.
func PageURL(public, host string, port int) string {
	switch {
	case public != "":
		return strings.TrimRight(public, "/")
	case loopback(host):
		return "http://" + net.JoinHostPort(host, fmt.Sprint(port))
	}
	return ""
}
