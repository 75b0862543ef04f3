// Package webhooks has the settings of web hooks, which receive the events of approvals.
package webhooks

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"agent-stop-and-go/config/secrets"
	"agent-stop-and-go/workflows/contract/hooks"
	"agent-stop-and-go/workflows/contract/network"
)

// Hook is an item of approval.webhooks.
type Hook struct {
	URL          string   `yaml:"url" jsonschema:"required" jsonschema_description:"Where events are posted. ${NAME} is replaced by an environment variable."`
	Secrets      []string `yaml:"secrets" jsonschema:"required" jsonschema_description:"Environment variables, as ${NAME}, with the secrets that sign: whsec_ and 24 to 64 bytes in base64. During a rotation there are two; the receiver accepts either."`
	Events       []string `yaml:"events" jsonschema_description:"Which of approval.opened, approval.reminded, approval.decided and approval.expired are sent. Without the key all are."`
	AllowPrivate bool     `yaml:"allow_private" jsonschema:"default=false" jsonschema_description:"true: the URL may lead to loopback and private addresses, but never to link-local ones."`
}

// Open is a hook with the values of its environment variables.
type Open struct {
	Name, URL string
	Secrets   []string
	Events    []hooks.Event
	Reach     network.Reach
}

// Check reports what is wrong with web hooks, except for the values of their variables.
func Check(all []Hook, report func(key, problem string)) {
	seen := map[string]bool{}
	for i, h := range all {
		at := func(key, problem string) { report(fmt.Sprintf("[%d]%s", i, key), problem) }
		switch {
		case h.URL == "":
			at("", "url is required")
		case seen[h.URL]:
			at(".url", "is there twice")
		case !strings.Contains(h.URL, "${"):
			if err := network.CheckWebhook(h.URL, h.reach()); err != nil {
				at(".url", err.Error())
			}
		}
		seen[h.URL] = true
		if len(h.Secrets) == 0 {
			at("", "secrets is required: write [\"${APPROVAL_HOOK_SECRET}\"] and set it in the agent's own environment")
		}
		for n, secret := range h.Secrets {
			if !secrets.IsReference(secret) {
				at(fmt.Sprintf(".secrets[%d]", n), "secrets do not belong in this file; write ${APPROVAL_HOOK_SECRET} and set it in the agent's own environment")
			}
		}
		for n, e := range h.Events {
			if !known(e) {
				at(fmt.Sprintf(".events[%d]", n), fmt.Sprintf("%q: must be approval.opened, approval.reminded, approval.decided or approval.expired", e))
			}
		}
	}
}

func known(event string) bool {
	for _, e := range hooks.Events() {
		if string(e) == event {
			return true
		}
	}
	return false
}

func (h Hook) reach() network.Reach {
	if h.AllowPrivate {
		return network.ReachPrivate
	}
	return network.ReachPublic
}

// Resolve returns web hooks with the values of their variables. It fails if one is not set or holds
// no secret; errors never show values.
func Resolve(all []Hook, getenv func(string) string) ([]Open, error) {
	var out []Open
	for _, h := range all {
		o := Open{Name: h.URL, Reach: h.reach()}
		values, err := secrets.Expand("approval.webhooks", "url", map[string]string{"": h.URL}, getenv)
		if err != nil {
			return nil, err
		}
		o.URL = values[""]
		if err := network.CheckWebhook(o.URL, o.Reach); err != nil {
			return nil, fmt.Errorf("approval.webhooks: url %s: %w", h.URL, err)
		}
		for _, name := range h.Secrets {
			values, err := secrets.Expand("approval.webhooks", "secrets", map[string]string{"": name}, getenv)
			if err == nil {
				err = checkSecret(values[""])
			}
			if err != nil {
				return nil, fmt.Errorf("approval.webhooks: secrets: %s: %w", name, err)
			}
			o.Secrets = append(o.Secrets, values[""])
		}
		for _, e := range h.Events {
			o.Events = append(o.Events, hooks.Event(e))
		}
		out = append(out, o)
	}
	return out, nil
}

var errSecret = errors.New("must be whsec_ and 24 to 64 bytes in base64, such as the output of: echo whsec_$(openssl rand -base64 32)")

func checkSecret(secret string) error {
	encoded, ok := strings.CutPrefix(secret, "whsec_")
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) < 24 || len(key) > 64 {
		return errSecret
	}
	return nil
}

// References yields every value that may refer to an environment variable, with its place, until
// yield returns false.
func References(all []Hook, yield func(place, value string) bool) bool {
	for i, h := range all {
		place := fmt.Sprintf("approval.webhooks[%d]", i)
		if !yield(place+".url", h.URL) {
			return false
		}
		for n, secret := range h.Secrets {
			if !yield(fmt.Sprintf("%s.secrets[%d]", place, n), secret) {
				return false
			}
		}
	}
	return true
}
