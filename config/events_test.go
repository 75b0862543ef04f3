package config_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/config"
)

func TestThePasswordOfRedisComesFromTheEnvironment(t *testing.T) {
	getenv := env("PASSWORD", "p@ss/w:rd%", "REDIS_URL", "rediss://u:p@far:1/2")
	for raw, want := range map[string]string{
		"":                                    "",
		"redis://h":                           "redis://h",
		"redis://h:6379/1":                    "redis://h:6379/1",
		"rediss://:${PASSWORD}@[::1]:6379":    "rediss://:p%40ss%2Fw%3Ard%25@[::1]:6379",
		"redis://me:${PASSWORD}@10.0.0.1:1/3": "redis://me:p%40ss%2Fw%3Ard%25@10.0.0.1:1/3",
		"${REDIS_URL}":                        "rediss://u:p@far:1/2",
	} {
		c := parse(t, "events: {redis: '"+raw+"'}\n")
		if got, err := c.Events.RedisURL(getenv); err != nil || got != want {
			t.Errorf("%s: got %s, %v", raw, got, err)
		}
	}
}

func TestAVariableOfRedisThatIsNotSetIsNamed(t *testing.T) {
	for _, raw := range []string{"redis://:${NOT_SET}@h", "${NOT_SET}"} {
		_, err := config.Events{Redis: raw}.RedisURL(env())
		if err == nil || err.Error() != "events: redis: not set in the environment: [NOT_SET]" {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestTheAddressOfRedisIsChecked(t *testing.T) {
	for raw, want := range map[string]string{
		"redis://:abc@h": "secrets do not belong", "redis://abc@h:1": "secrets do not belong", "redis://${USER}@h": "secrets do not belong",
		"http://h": "must be redis://", "redis://": "must be redis://", "h:6379": "must be redis://", "redis://h:0": "must be redis://",
		"redis://h:6379/x": "must be redis://", "redis://h?db=1": "must be redis://", "redis://-/": "must be redis://", "redis://${HOST}": "must be redis://",
	} {
		_, err := config.Parse("a.yaml", []byte("events:\n  redis: '"+raw+"'\n"))
		if err == nil || !strings.Contains(err.Error(), "a.yaml:2: events.redis: "+want) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestDescribeShowsWhereRedisIs(t *testing.T) {
	for raw, want := range map[string]string{"redis://me:${P}@h:1/2": "redis://h:1/2", "${REDIS_URL}": "${REDIS_URL}", "": "-"} {
		got := describe(t, parse(t, "events: {redis: '"+raw+"'}\n"), func(string) string { return "c4n4ry" })
		if !strings.Contains(got, "  events.redis                "+want+"\n") || strings.Contains(got, "c4n4ry") {
			t.Errorf("%s: not %s in\n%s", raw, want, got)
		}
	}
}
