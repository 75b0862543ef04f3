package config

import (
	"net"
	"net/url"
	"regexp"
	"strings"

	"agent-stop-and-go/config/secrets"
)

// Events configures the transport of pieces of replies between processes. Without Redis they
// stay within one process. Readers of a conversation get recorded messages in any case.
type Events struct {
	Redis string `yaml:"redis" jsonschema_description:"redis:// or rediss:// (TLS) URL of a Redis server that workers and gateways share, such as redis://:${REDIS_PASSWORD}@redis:6379/0, or ${REDIS_URL} for a whole one. Passwords are given as ${NAME}, which takes a value from the agent's environment. Empty: they stay within one process that is worker and gateway."`
}

// Groups: scheme, user, variable of the password, host with port, database.
var redisURL = regexp.MustCompile(`^(rediss?)://(?:([A-Za-z0-9_.-]*):\$\{([A-Za-z_][A-Za-z0-9_]*)\}@)?([^@/?#\s]+)(?:/([0-9]{0,4}))?$`)

// RedisURL returns Redis with every ${NAME} replaced by that environment variable; it may
// contain a password. A variable that is not set is an error that names it.
func (e Events) RedisURL(getenv func(string) string) (string, error) {
	values, err := secrets.Expand("events", "redis", map[string]string{"redis": e.Redis}, getenv)
	if err != nil {
		return "", err
	}
	m := redisURL.FindStringSubmatch(e.Redis)
	if m == nil || m[3] == "" {
		return values["redis"], nil
	}
	u := url.URL{Scheme: m[1], User: url.UserPassword(m[2], getenv(m[3])), Host: m[4], Path: m[5]}
	return u.String(), nil
}

// checkRedis never shows the value, which may contain a password anywhere.
func checkRedis(r *report, path, raw string) {
	if raw == "" || secrets.IsReference(raw) {
		return
	}
	m := redisURL.FindStringSubmatch(raw)
	switch {
	case m == nil && strings.Contains(raw, "@"):
		r.at(path, "secrets do not belong in this file; write redis://:${REDIS_PASSWORD}@host:6379 and set that in the agent's own environment")
	case m == nil || !isRedisHost(m[4]):
		r.at(path, "must be redis://host:6379 or rediss://host:6379, with /1 for another database, or ${REDIS_URL}")
	}
}

func isRedisHost(s string) bool {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		host, port = strings.Trim(s, "[]"), "6379"
	}
	return isPort(port) && (net.ParseIP(host) != nil || hostName.MatchString(host))
}

// shownRedis removes user and password.
func shownRedis(raw string) string {
	if m := redisURL.FindStringSubmatch(raw); m != nil {
		return strings.TrimSuffix(m[1]+"://"+m[4]+"/"+m[5], "/")
	}
	if raw == "" || secrets.IsReference(raw) {
		return raw
	}
	return "?"
}
