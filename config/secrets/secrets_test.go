package secrets_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"agent-stop-and-go/config/secrets"
)

func TestSecretsOfVariables(t *testing.T) {
	getenv := func(name string) string {
		return map[string]string{
			"PAT": "ghp_canary", "DB": "pa55word-canary", "URL": "postgres://u:in-the-url@h/db", "HOME": "/home/u", "FLAG": "True",
			"PORT": "5432", "SITE": "https://example.com/api", "HOOK": "https://example.com/T0/aGVsbG8gd29ybGQgMTIzNDU2Nzg5",
			"KEY": "/AbCdEfGhIjKlMnOpQrStUvWxYz012345678=", "PIN": "12345678", "DIR": "./data/files",
		}[name]
	}
	for name, tt := range map[string]struct {
		env  map[string]string
		want []string
	}{
		"whatever it is called":     {map[string]string{"GITHUB_PAT": "${PAT}"}, []string{"ghp_canary"}},
		"a part of a value":         {map[string]string{"DSN": "postgres://u:${DB}@h/db"}, []string{"postgres://u:pa55word-canary@h/db", "pa55word-canary"}},
		"a password in a URL":       {map[string]string{"DSN": "${URL}"}, []string{"postgres://u:in-the-url@h/db", "in-the-url"}},
		"paths, flags, numbers":     {map[string]string{"A": "${HOME}", "B": "${FLAG}", "C": "${PORT}", "D": "${DIR}", "E": "${HOME}/x"}, nil},
		"a plain URL":               {map[string]string{"A": "${SITE}"}, nil},
		"a URL that is a secret":    {map[string]string{"A": "${HOOK}"}, []string{"https://example.com/T0/aGVsbG8gd29ybGQgMTIzNDU2Nzg5"}},
		"a key that begins with /":  {map[string]string{"A": "${KEY}"}, []string{"/AbCdEfGhIjKlMnOpQrStUvWxYz012345678="}},
		"a number that is a secret": {map[string]string{"PASSWD": "${PIN}"}, []string{"12345678"}},
		"a plain part beside one":   {map[string]string{"A": "${HOME}:${PAT}"}, []string{"/home/u:ghp_canary", "ghp_canary"}},
		"what the file has":         {map[string]string{"A": "as it is", "B": ""}, nil},
		"twice":                     {map[string]string{"A": "${PAT}", "B": "${PAT}"}, []string{"ghp_canary"}},
	} {
		if diff := cmp.Diff(tt.want, secrets.InVariables(tt.env, getenv)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	want := []string{"Key ghp_canary", "ghp_canary", "5432"}
	if diff := cmp.Diff(want, secrets.InHeaders(map[string]string{"X-Gate": "Key ${PAT}", "X-Port": "${PORT}", "X-Team": "shop"}, getenv)); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}
