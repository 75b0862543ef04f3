package webhooks_test

import (
	"strings"
	"testing"

	"agent-stop-and-go/config/webhooks"
)

func TestTheValuesOfVariablesAreChecked(t *testing.T) {
	const secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
	for _, tc := range []struct {
		hook    webhooks.Hook
		secret  string
		problem string
	}{
		{webhooks.Hook{URL: "https://hooks.example.com/${TOKEN}", Secrets: []string{"${SECRET}"}}, secret, ""},
		{webhooks.Hook{URL: "http://127.0.0.1:9000/", Secrets: []string{"${SECRET}"}, AllowPrivate: true}, secret, ""},
		{webhooks.Hook{URL: "http://127.0.0.1:9000/", Secrets: []string{"${SECRET}"}}, secret, "http://127.0.0.1:9000/"},
		{webhooks.Hook{URL: "http://169.254.169.254/", Secrets: []string{"${SECRET}"}, AllowPrivate: true}, secret, "169.254"},
		{webhooks.Hook{URL: "https://hooks.example.com/", Secrets: []string{"${SECRET}"}}, "whsec_c2hvcnQ=", "must be whsec_"},
		{webhooks.Hook{URL: "https://hooks.example.com/", Secrets: []string{"${SECRET}"}}, strings.TrimPrefix(secret, "whsec_"), "must be whsec_"},
		{webhooks.Hook{URL: "https://hooks.example.com/", Secrets: []string{"${SECRET}"}}, "", "SECRET"},
	} {
		env := map[string]string{"TOKEN": "t-1", "SECRET": tc.secret}
		open, err := webhooks.Resolve([]webhooks.Hook{tc.hook}, func(name string) string { return env[name] })
		switch {
		case tc.problem != "":
			if err == nil || !strings.Contains(err.Error(), tc.problem) || strings.Contains(err.Error(), "MDEy") || strings.Contains(err.Error(), "c2hv") {
				t.Errorf("%+v: %v", tc.hook, err)
			}
		case err != nil:
			t.Errorf("%+v: %v", tc.hook, err)
		case open[0].Name != tc.hook.URL || open[0].Secrets[0] != secret || strings.Contains(open[0].URL, "${"):
			t.Errorf("%+v", open[0])
		}
	}
}

func TestMistakesAreReportedTogether(t *testing.T) {
	var got []string
	webhooks.Check([]webhooks.Hook{
		{URL: "https://hooks.example.com/", Secrets: []string{"whsec_clear"}, Events: []string{"approval.opened", "opened"}},
		{URL: "https://hooks.example.com/"},
		{Secrets: []string{"${A}"}},
		{URL: "ftp://hooks.example.com/", Secrets: []string{"${A}"}},
	}, func(key, problem string) { got = append(got, key+": "+problem) })
	text := strings.Join(got, "\n")
	for _, part := range []string{"[0].secrets[0]: secrets do not belong", `[0].events[1]: "opened"`, "[1].url: is there twice", "[1]: secrets is required", "[2]: url is required", "[3].url: "} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	if strings.Contains(text, "whsec_clear") {
		t.Error("a secret is shown")
	}
}
