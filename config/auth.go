package config

import (
	"fmt"
	"io"
	"maps"
	"net/netip"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"agent-stop-and-go/config/header"
	"agent-stop-and-go/config/secrets"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/approvers"
)

// Ways in which callers prove who they are.
const (
	AuthKeys  = "keys"
	AuthOIDC  = "oidc"
	AuthProxy = "proxy"
)

// AuthWay is one way in which callers prove who they are. Methods return the settings with
// their defaults.
type AuthWay struct {
	Type            string              `yaml:"type" jsonschema:"required,enum=keys,enum=oidc,enum=proxy" jsonschema_description:"keys: keys that agent keys add makes, sent as bearer tokens. oidc: bearer tokens of an OpenID provider. proxy: a header that a trusted proxy adds."`
	File            string              `yaml:"file" jsonschema_description:"keys: the file of the keys, which agent keys writes. Empty: keys.json in data_dir. Gateways on several machines need one file that all of them can read."`
	Issuer          string              `yaml:"issuer" jsonschema:"maxLength=255" jsonschema_description:"oidc: the URL of the provider, exactly as its tokens have it in iss. It must be https, or of this machine. Required there."`
	Audience        string              `yaml:"audience" jsonschema_description:"oidc: the name of this agent at the provider. Tokens without it in aud are refused. Required there."`
	SubjectClaim    string              `yaml:"subject_claim" jsonschema:"default=sub,minLength=1" jsonschema_description:"oidc: the claim that names the caller. Take one that the provider never gives to somebody else."`
	GroupsClaim     string              `yaml:"groups_claim" jsonschema:"default=groups,minLength=1" jsonschema_description:"oidc: the claim that lists the caller's groups, or is one."`
	ScopesFromToken bool                `yaml:"scopes_from_token" jsonschema:"default=false" jsonschema_description:"oidc: true adds those of the agent's scopes that the token has in scope or scp."`
	ClockSkew       time.Duration       `yaml:"clock_skew" jsonschema:"default=30s" jsonschema_description:"oidc: how far the clocks of provider and agent may differ, at most 5m."`
	ClientID        string              `yaml:"client_id" jsonschema_description:"oidc: the client of the provider with which people log in to the page. Its redirect URI is public_url with /auth/callback. Empty: the page has no login of this provider."`
	ClientSecret    string              `yaml:"client_secret" jsonschema_description:"oidc: ${NAME}: an environment variable with the secret of client_id. Empty: it is a public client, which PKCE protects."`
	DeviceClientID  string              `yaml:"device_client_id" jsonschema_description:"oidc: the public client of the provider with which agent login logs a terminal in (device authorization). Empty: terminals use keys or tokens."`
	LoginScopes     []string            `yaml:"login_scopes" jsonschema_description:"oidc: what logins ask the provider for. Without the key openid, and offline_access, profile, email and groups if the provider lists them."`
	Session         time.Duration       `yaml:"session" jsonschema:"default=12h" jsonschema_description:"keys, oidc: how long a login in a browser lasts at most, from 1m to 90d. The provider is asked every ten minutes whether it still holds; without a refresh token it ends with the ID token."`
	From            []string            `yaml:"from" jsonschema_description:"proxy: the addresses of the proxy, each an IP address or a network such as 10.0.0.0/8. The headers of all other connections prove nothing. Required there."`
	Header          string              `yaml:"header" jsonschema_description:"proxy: the header that names the caller, such as X-Subject. The proxy must remove it from what it is sent. Required there."`
	GroupsHeader    string              `yaml:"groups_header" jsonschema_description:"proxy: the header with the caller's groups, separated by commas. Empty: none are read."`
	SharedGroups    []string            `yaml:"shared_groups" jsonschema_description:"oidc, proxy: groups whose members share their conversations: whatever a member starts, all members see, write to, cancel and close. Only who started it deletes it, sets its web hooks and is its requester in approval.approvers. At most 5. It counts for conversations that start from then on."`
	Scopes          []string            `yaml:"scopes" jsonschema_description:"oidc, proxy: what every caller may do: any of converse, read, approve, operate, read:all and approve:all. Without the key converse, read and approve."`
	Grant           map[string][]string `yaml:"grant" jsonschema_description:"oidc, proxy: what the members of a group may do in addition, by the name of the group: ops: [operate, read:all]."`
}

// authKeys are the keys that only some types of ways have.
var authKeys = map[string][]string{
	"file":   {AuthKeys},
	"issuer": {AuthOIDC}, "audience": {AuthOIDC}, "subject_claim": {AuthOIDC}, "groups_claim": {AuthOIDC}, "scopes_from_token": {AuthOIDC}, "clock_skew": {AuthOIDC},
	"client_id": {AuthOIDC}, "client_secret": {AuthOIDC}, "device_client_id": {AuthOIDC}, "login_scopes": {AuthOIDC}, "session": {AuthKeys, AuthOIDC},
	"from": {AuthProxy}, "header": {AuthProxy}, "groups_header": {AuthProxy},
	"shared_groups": {AuthOIDC, AuthProxy},
	"scopes":        {AuthOIDC, AuthProxy}, "grant": {AuthOIDC, AuthProxy},
}

// CallerScopes returns the scopes of every caller who comes in this way.
func (w AuthWay) CallerScopes() []string {
	if w.Scopes == nil {
		return []string{contract.ScopeConverse, contract.ScopeRead, contract.ScopeApprove}
	}
	return w.Scopes
}

// Secret returns ClientSecret with ${NAME} replaced by that environment variable.
func (w AuthWay) Secret(getenv func(string) string) (string, error) {
	values, err := secrets.Expand("auth", "client_secret", map[string]string{"": w.ClientSecret}, getenv)
	return values[""], err
}

// Networks returns From, whose addresses are networks of one address.
func (w AuthWay) Networks() []netip.Prefix { return networks(w.From) }

// KeysFile returns the file of the keys of callers, which exists only if there are any.
func (c *Config) KeysFile() string {
	for _, way := range c.Auth {
		if way.Type == AuthKeys && way.File != "" {
			return way.File
		}
	}
	return filepath.Join(c.DataDir, "keys.json")
}

// whoMayCall is what to write into the file of an agent that others reach.
const whoMayCall = "write who may call: auth: [{type: keys}] for keys that agent keys add makes, " +
	"auth: [{type: oidc, issuer: https://login.example.com, audience: NAME}] for tokens of an OpenID provider, " +
	"auth: [{type: proxy, from: [ADDRESS], header: X-Subject}] behind a proxy that authenticates people, " +
	"or auth: none to let everybody who reaches it start conversations, read them and approve calls"

// checkAuth refuses an agent that others reach without saying who may call it.
func checkAuth(r *report, c *Config) {
	if c.Auth == nil && !loopback(c.Host) && !r.failed["auth"] {
		r.at("host", "%s: other machines reach this address; %s", quote(c.Host), whoMayCall)
	}
	for i, way := range c.Auth {
		path := fmt.Sprintf("auth[%d]", i)
		checkAuthWay(r, path, way)
		same := func(w AuthWay) bool { return w.Type == way.Type && (w.Type == AuthKeys || w.Issuer == way.Issuer) }
		if (way.Type == AuthKeys || way.Type == AuthOIDC && way.Issuer != "") && slices.ContainsFunc(c.Auth[:i], same) {
			r.at(path+".type", "%s is in the list already", strings.TrimSpace(way.Type+" "+way.Issuer))
		}
	}
}

func checkAuthWay(r *report, path string, way AuthWay) {
	switch {
	case r.failed[path] || r.failed[path+".type"]:
		return
	case way.Type == "":
		r.at(path, "type is required: keys, oidc or proxy")
		return
	}
	for f := range reflect.TypeFor[AuthWay]().Fields() {
		key := f.Tag.Get("yaml")
		_, set := r.lines[path+"."+key]
		if types := authKeys[key]; set && types != nil && !slices.Contains(types, way.Type) {
			r.at(path+"."+key, "does not fit the type %s; only %s has it", way.Type, either(types))
		}
	}
	switch way.Type {
	case AuthOIDC:
		checkRequired(r, path+".issuer", way.Issuer)
		checkRequired(r, path+".audience", way.Audience)
		checkIssuer(r, path+".issuer", way.Issuer)
		if checkDuration(r, path+".clock_skew", way.ClockSkew, 0); way.ClockSkew > 5*time.Minute {
			r.at(path+".clock_skew", "%s: must be at most 5m", short(way.ClockSkew))
		}
		checkLogin(r, path, way)
	case AuthProxy:
		checkProxy(r, path, way)
	}
	if checkDuration(r, path+".session", way.Session, time.Minute); way.Session > maxSession {
		r.at(path+".session", "%s: must be at most 90d", short(way.Session))
	}
	if len(way.SharedGroups) > maxShared {
		r.at(path+".shared_groups", "must have at most %d entries", maxShared)
	}
	for i, group := range way.SharedGroups {
		if group == "" || len(group) > contract.MaxGroup {
			r.at(fmt.Sprintf("%s.shared_groups[%d]", path, i), "must be the name of a group, at most %d bytes long", contract.MaxGroup)
		}
	}
	checkScopes(r, path+".scopes", way.Scopes)
	for _, group := range slices.Sorted(maps.Keys(way.Grant)) {
		checkScopes(r, path+".grant."+group, way.Grant[group])
	}
}

const (
	maxSession = 90 * 24 * time.Hour
	// maxShared keeps the list small enough for a search attribute.
	maxShared = 5
)

// checkLogin never shows the client secret, which may be in the file itself.
func checkLogin(r *report, path string, way AuthWay) {
	switch {
	case way.ClientSecret != "" && way.ClientID == "":
		r.at(path+".client_secret", "needs client_id")
	case way.ClientSecret != "" && !secrets.IsReference(way.ClientSecret):
		r.at(path+".client_secret", "secrets do not belong in this file; write ${OIDC_CLIENT_SECRET} and set it in the agent's own environment")
	}
	if len(way.LoginScopes) > 0 && !slices.Contains(way.LoginScopes, "openid") {
		r.at(path+".login_scopes", "must have openid: without it the provider does not say who has logged in")
	}
}

func checkRequired(r *report, path, value string) {
	if !r.holds(path, value) {
		r.at(path, "is required")
	}
}

// checkIssuer refuses a provider whose tokens anybody on the way could forge.
func checkIssuer(r *report, path, issuer string) {
	checkURL(r, path, issuer)
	u, err := url.Parse(issuer)
	if err == nil && u.Scheme == "http" && !loopback(u.Hostname()) {
		r.at(path, "%s: must be https: over http, whoever is on the way to the provider can make tokens", quote(issuer))
	}
}

func checkProxy(r *report, path string, way AuthWay) {
	if len(way.From) == 0 && !r.failed[path+".from"] {
		r.at(path+".from", "is required: the address or network of the proxy, such as [10.0.0.0/8]")
	}
	checkNetworks(r, path+".from", way.From, "lets everybody write the header")
	checkRequired(r, path+".header", way.Header)
	for _, one := range [][2]string{{"header", way.Header}, {"groups_header", way.GroupsHeader}} {
		if key, name := one[0], one[1]; name != "" && !header.IsName(name) {
			r.at(path+"."+key, "%s: must be the name of a header, such as X-Subject", quote(name))
		}
	}
}

func checkScopes(r *report, path string, scopes []string) {
	for i, scope := range scopes {
		if !slices.Contains(contract.Scopes(), scope) {
			r.at(fmt.Sprintf("%s[%d]", path, i), "%s: must be %s", quote(scope), either(contract.Scopes()))
		}
	}
}

// checkApprovers refuses rules that cannot be kept.
func checkApprovers(r *report, c *Config) {
	const path = "approval.approvers"
	approvers.CheckAll(c.Approval.Approvers, len(c.Auth) > 0 || r.failed["auth"], func(key, problem string) { r.at(path+key, "%s", problem) })
}

// String describes a way in one line.
func (w AuthWay) String() string {
	text := w.Type
	switch w.Type {
	case AuthKeys:
		return text
	case AuthOIDC:
		text += fmt.Sprintf(": tokens of %s for %s; the caller is %s, its groups %s", w.Issuer, w.Audience, w.SubjectClaim, w.GroupsClaim)
		if w.ClientID != "" {
			text += "; people log in with a browser"
		}
	case AuthProxy:
		text += fmt.Sprintf(": %s from %s", w.Header, strings.Join(w.From, ", "))
	}
	if len(w.SharedGroups) > 0 {
		text += "; members share conversations: " + strings.Join(w.SharedGroups, ", ")
	}
	text += "; scopes: " + strings.Join(w.CallerScopes(), ", ")
	for _, group := range slices.Sorted(maps.Keys(w.Grant)) {
		text += fmt.Sprintf("; %s also: %s", group, strings.Join(w.Grant[group], ", "))
	}
	return text
}

// describeAuth shows the ways in, if any.
func describeAuth(w io.Writer, ways []AuthWay) {
	if len(ways) == 0 {
		return
	}
	fmt.Fprintln(w, "\nCallers prove who they are by")
	for _, way := range ways {
		fmt.Fprintf(w, "  %s\n", way)
	}
}
