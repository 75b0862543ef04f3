package web

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// check reports what is wrong with the values.
func (r *reader) check(c *Config) {
	if c.AgentURL == "" {
		r.fail(0, "", "agent_url is required in web config: the address of the agent, such as http://127.0.0.1:8080")
	}
	r.checkURL("agent_url", c.AgentURL)
	r.checkURL("public_url", c.PublicURL)
	if c.Port < 1 || c.Port > 65535 {
		r.at("port", "%d: must be between 1 and 65535", c.Port)
	}
	if !isHost(c.Host) {
		r.at("host", "%q: must be a host name or an IP address, without a port", c.Host)
	}
	if c.DataDir == "" {
		r.at("data_dir", "must not be empty")
	}
	for i, name := range c.AllowedHosts {
		if !isHost(name) {
			r.at("allowed_hosts", "item %d, %q: must be a host name or an IP address, without scheme, port, path and *", i+1, name)
		}
	}
	for i, name := range c.ForwardHeaders {
		if !headerName.MatchString(name) || slices.Contains(ownHeaders, http.CanonicalHeaderKey(name)) {
			r.at("forward_headers", "item %d, %q: must be the name of a header that no hop of its own sets", i+1, name)
		}
	}
	if c.OAuth2 != nil {
		r.checkOAuth2(c.OAuth2)
	}
}

var (
	hostName   = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	headerName = regexp.MustCompile(`^[A-Za-z0-9-]+$`)
	// ownHeaders are set for each connection.
	ownHeaders = []string{"Host", "Connection", "Upgrade", "Te", "Trailer", "Transfer-Encoding", "Content-Length", "Cookie", "Origin", "Keep-Alive", "Proxy-Authorization"}
)

func isHost(name string) bool { return net.ParseIP(name) != nil || hostName.MatchString(name) }

func (r *reader) checkURL(path, raw string) {
	if raw == "" {
		return
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		r.at(path, "must be an http or https URL")
		return
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		r.at(path, "must have no user, query or fragment")
	}
}

// checkOAuth2 keeps the words of the former web process, on which scripts may rely.
func (r *reader) checkOAuth2(o *OAuth2) {
	required := func(key, value string) {
		if value == "" {
			r.at("oauth2", "invalid oauth2 config: %s is required", key)
		}
	}
	required("client_id", o.ClientID)
	if o.Issuer == "" {
		required("auth_url", o.AuthURL)
		required("token_url", o.TokenURL)
	} else if o.AuthURL != "" || o.TokenURL != "" || o.RevokeURL != "" {
		r.at("oauth2.issuer", "either issuer, which names its endpoints, or auth_url, token_url and revoke_url")
	}
	required("redirect_url", o.RedirectURL)
	if len(o.Scopes) == 0 {
		r.at("oauth2", "invalid oauth2 config: at least one scope is required")
	}
	for _, u := range [][2]string{{"issuer", o.Issuer}, {"token_url", o.TokenURL}, {"revoke_url", o.RevokeURL}, {"redirect_url", o.RedirectURL}} {
		r.checkURL("oauth2."+u[0], u[1])
	}
	if u, err := url.Parse(o.AuthURL); err != nil || o.AuthURL != "" && (u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		r.at("oauth2.auth_url", "must be an http or https URL") // a query is allowed (RFC 6749 §3.1)
	}
	if path := r.config.CallbackPath(); o.RedirectURL != "" && !callbackPath.MatchString(path) {
		r.at("oauth2.redirect_url", "its path %q must be /callback, or another one that the agent does not have", path)
	}
}

// callbackPath is one name, or begins with one, that is none of the agent.
var callbackPath = regexp.MustCompile(`^/(callback|oauth2?|token|tools)(/[A-Za-z0-9_-]+)*$`)

// CallbackPath is where the authorization server sends browsers back to, below Base.
func (c *Config) CallbackPath() string {
	u, err := url.Parse(c.OAuth2.RedirectURL)
	base, _ := url.Parse(c.Base()) // of the same URL, or of one that is checked
	if err != nil || base == nil {
		return ""
	}
	return strings.TrimPrefix(u.Path, base.Path)
}

// Warnings lists valid settings that deserve a look.
func (c *Config) Warnings() []string {
	var out []string
	warn := func(path, text string) {
		out = append(out, (&Error{c.file, c.lines[path], path, text}).Error())
	}
	if o := c.OAuth2; o != nil {
		if o.secretInFile() {
			warn("oauth2.client_secret", "the file has a secret; write ${NAME} or file:PATH and give it to this process alone")
		}
		for _, u := range [][2]string{{"issuer", o.Issuer}, {"token_url", o.TokenURL}, {"redirect_url", o.RedirectURL}} {
			if isOpen(u[1]) {
				warn("oauth2."+u[0], "over http, whoever is on the way reads the tokens; use https")
			}
		}
	}
	if isOpen(c.AgentURL) && c.OAuth2 != nil {
		warn("agent_url", "over http, whoever is on the way to the agent reads the tokens; use https, or a network of their own")
	}
	return out
}

// isOpen reports whether a URL is http and leaves this machine.
func isOpen(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() != "localhost" && !strings.HasSuffix(u.Hostname(), ".localhost") && (ip == nil || !ip.IsLoopback())
}

// String describes the configuration in a line, without secrets.
func (c *Config) String() string {
	if c.OAuth2 == nil {
		return "agent " + c.AgentURL
	}
	return fmt.Sprintf("agent %s, tokens for tools of %s", c.AgentURL, c.OAuth2.Server())
}

// Server is the host of the authorization server.
func (o *OAuth2) Server() string {
	raw := o.Issuer
	if raw == "" {
		raw = o.AuthURL
	}
	u, _ := url.Parse(raw) // Parse has checked it
	return u.Host
}
