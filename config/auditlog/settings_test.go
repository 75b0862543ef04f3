package auditlog_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/config/auditlog"
)

func TestSettingsAreChecked(t *testing.T) {
	for want, s := range map[string]*auditlog.Audit{
		"":             nil,
		"origin: must": {Origin: "a log"},
		"trusted[0]: is a private key, which does not belong in this file": {Origin: "x", Trusted: []string{"PRIVATE+KEY+x+12345678+abc"}},
		"trusted[1]: must be a public key":                                 {Origin: "x", Trusted: []string{"x+12345678+abc", "x"}},
	} {
		var got string
		s.Check(func(key, problem string) { got = key + ": " + problem })
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
