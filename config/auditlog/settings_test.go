package auditlog_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/config/auditlog"
	"agent-stop-and-go/workflows/credential/cosigner"
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

const logKey = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW" // of the documentation of package note

func TestWitnessesAreChecked(t *testing.T) {
	text, err := cosigner.NewKey("example.com/w")
	if err != nil {
		t.Fatal(err)
	}
	private, public, _ := strings.Cut(text, "\n")
	one := auditlog.Cosigner{URL: "https://other.example.com/witness", Key: public}
	for want, s := range map[string]auditlog.Audit{
		"": {Origin: "x", Witnesses: []auditlog.Cosigner{one}, Required: 1},
		"witnesses[0].url: must be an http or https URL":                    {Origin: "x", Witnesses: []auditlog.Cosigner{{URL: "other", Key: public}}},
		"witnesses[0].key: is a private key":                                {Origin: "x", Witnesses: []auditlog.Cosigner{{URL: one.URL, Key: private}}},
		"witnesses[0].key: must be the public key of a witness":             {Origin: "x", Witnesses: []auditlog.Cosigner{{URL: one.URL, Key: logKey}}},
		"witnesses[1].key: is there twice":                                  {Origin: "x", Witnesses: []auditlog.Cosigner{one, one}},
		"required: must be 0, or a number of the witnesses that have a URL": {Origin: "x", Witnesses: []auditlog.Cosigner{one}, Required: 2},
	} {
		var got string
		s.Check(func(key, problem string) { got = key + ": " + problem })
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q, expected %q", got, want)
		}
	}
	for want, w := range map[string]*auditlog.Witness{
		"":                          nil,
		"name: must be a name":      {Name: "a witness", Logs: []string{logKey}},
		"logs: must have":           {Name: "w"},
		"logs[0]: is a private key": {Name: "w", Logs: []string{private}},
		"logs[1]: must be the public key of a log": {Name: "w", Logs: []string{logKey, public}},
	} {
		var got string
		w.Check(func(key, problem string) { got = key + ": " + problem })
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
