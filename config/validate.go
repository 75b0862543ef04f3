package config

import (
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"agent-stop-and-go/config/header"
	"agent-stop-and-go/config/webhooks"
)

// Validate checks the settings again, after a flag or a variable changed them. Load and Parse
// have done it already. The error is an Errors.
func (c *Config) Validate() error {
	r := newReport(c.file, c.lines)
	c.check(r)
	return r.err()
}

func (c *Config) check(r *report) {
	eachField(reflect.ValueOf(c).Elem(), "", func(path string, f reflect.StructField, v reflect.Value) {
		checkRules(r, path, rulesOf(f), v)
	})
	checkModels(r, c.Models)
	registry(c.Models).checkName(r, "llm.model", c.LLM.Model)
	checkURL(r, "llm.base_url", c.LLM.BaseURL)
	checkHost(r, "host", c.Host)
	checkDoor(r, c)
	checkAuth(r, c)
	checkServers(r, c.MCPServers)
	c.checkLocalTools(r)
	c.checkPrompt(r)
	checkA2A(r, "a2a", c.A2A)
	checkTree(r, c.Root, c.Models)
	checkLimits(r, c)
	c.checkPeers(r)
	c.checkCredentials(r)
	if c.Conversations.DeleteAfter != 0 {
		checkDuration(r, "conversations.delete_after", c.Conversations.DeleteAfter, time.Second)
	}
	checkDuration(r, "approval.timeout", c.Approval.Timeout, 0)
	checkApprovers(r, c)
	checkPolicy(r, c)
	checkURL(r, "public_url", c.PublicURL)
	checkURL(r, "provider.url", c.Provider.URL)
	checkDuration(r, "request_timeout", c.RequestTimeout, time.Millisecond)
	checkDuration(r, "temporal.retention", c.Temporal.Retention, time.Hour)
	checkAddress(r, "temporal.address", c.Temporal.Address)
	checkBlobs(r, "blobs.url", c.Blobs.URL)
	c.Encryption.Check(func(key, problem string) { r.at("encryption."+key, "%s", problem) })
	c.Clients.Check([]int{c.Port, c.Temporal.Port, c.Temporal.UIPort}, func(key, problem string) { r.at("clients."+key, "%s", problem) })
	c.Audit.CheckBoth(c.Witness, func(key, problem string) { r.at(key, "%s", problem) })
	checkRedis(r, "events.redis", c.Events.Redis)
	checkSigningKey(r, "push.signing_key", c.Push.SigningKey)
	webhooks.Check(c.Approval.Webhooks, func(key, problem string) { r.at("approval.webhooks"+key, "%s", problem) })
	c.checkPorts(r)
}

// checkPorts refuses two listeners on one port. The embedded server listens only if no
// address is set.
func (c *Config) checkPorts(r *report) {
	if c.Temporal.Address != "" {
		return
	}
	ports := []struct {
		path string
		port int
	}{{"port", c.Port}, {"temporal.port", c.Temporal.Port}, {"temporal.ui_port", c.Temporal.UIPort}}
	for i, a := range ports {
		for _, b := range ports[:i] {
			if a.port != b.port || a.port == 0 {
				continue
			}
			at, other := a.path, b.path
			if _, set := r.lines[at]; !set {
				at, other = other, at
			}
			r.at(at, "%d: is also %s; every listener needs its own port", a.port, other)
		}
	}
}

func checkA2A(r *report, list string, agents []A2AAgent) {
	seen := map[string]bool{}
	for path, a := range eachA2A(list, agents) {
		checkName(r, path, a.Name)
		checkUnique(r, list, path, a.Name, seen)
		checkURL(r, path+".url", a.URL)
		checkHeaders(r, path+".headers", a.Headers, header.OfA2A)
		checkPeerTimeout(r, path+".timeout", a.Timeout)
		if !r.failed[path] && !r.holds(path+".url", a.URL) {
			r.atLine(r.line(path), path, "url is required")
		}
	}
}

// checkName requires a name at path.
func checkName(r *report, path, name string) {
	key := path + ".name"
	switch {
	case r.failed[path]:
	case !r.holds(key, name):
		r.atLine(r.line(key), path, "name is required")
		delete(r.failed, path) // report other mistakes too
	case untidy(name):
		r.at(key, "%s: must have no space around it and no control characters in it", quote(name))
	}
}

func untidy(name string) bool {
	return strings.TrimSpace(name) != name || strings.ContainsFunc(name, isControl)
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f }

// checkUnique reports the second use of a name within scope.
func checkUnique(r *report, scope, path, name string, seen map[string]bool) {
	if seen[name] && name != "" {
		r.atLine(r.line(path+".name"), scope, "duplicate name %q", name)
	}
	seen[name] = true
}

func checkURL(r *report, path, raw string) {
	if raw == "" {
		return
	}
	u, err := url.Parse(raw)
	switch {
	case strings.Contains(raw, "@") && (err != nil || u.User != nil || u.Host == ""): // not shown: it may contain a password
		r.at(path, "must be an http or https URL without user name and password")
	case err != nil || u.Scheme != "http" && u.Scheme != "https":
		r.at(path, "%s: must be an http or https URL", quote(raw))
	case u.Hostname() == "":
		r.at(path, "%s: must name a host, such as http://localhost:8090", quote(raw))
	case u.Port() != "" && !isPort(u.Port()):
		r.at(path, "%s: the port must be between 1 and 65535", quote(raw))
	case u.Fragment != "":
		r.at(path, "%s: must have no #fragment", quote(raw))
	}
}

func isPort(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 1 && n <= 65535
}
