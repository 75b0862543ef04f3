package gateway_test

import (
	"encoding/base64"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/config/encryption"
	"agent-stop-and-go/gateway"
	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/identity/keys"
	"agent-stop-and-go/workflows/credential"
)

const webUI = "https://temporal.example.com"

func withCodec(t *testing.T) func(*gateway.Deps) {
	t.Helper()
	c, err := encryption.New(credential.Key{ID: "k1", Secret: []byte(strings.Repeat("k", credential.KeySize))})
	if err != nil {
		t.Fatal(err)
	}
	return func(d *gateway.Deps) {
		d.Codec, d.WebUIOrigins, d.Namespace, d.AllowedOrigins = c, []string{webUI}, "agents", []string{"https://chat.example.com"}
	}
}

var clear = `{"payloads":[{"metadata":{"encoding":"anNvbi9wbGFpbg=="},"data":"` + base64.StdEncoding.EncodeToString([]byte(`"hello"`)) + `"}]}`

func TestTheWebUIGetsClearText(t *testing.T) {
	a := newAPI(t, &fakeBackend{}, withCodec(t))
	encrypted := a.want(200, a.do("POST", "/codec/encode", clear, "X-Namespace: agents"))
	if strings.Contains(encrypted.raw, base64.StdEncoding.EncodeToString([]byte(`"hello"`))) {
		t.Errorf("encrypted as %s", encrypted.raw)
	}
	both := strings.TrimSuffix(encrypted.raw, "]}") + "," + strings.TrimPrefix(clear, `{"payloads":[`)
	r := a.want(200, a.do("POST", "/codec/decode", both, "X-Namespace: agents", "Origin: "+webUI, "Sec-Fetch-Site: cross-site"))
	if strings.Count(r.raw, base64.StdEncoding.EncodeToString([]byte(`"hello"`))) != 2 {
		t.Errorf("decrypted as %s", r.raw)
	}
	if h := r.header; h.Get("Access-Control-Allow-Origin") != webUI || h.Get("Access-Control-Allow-Credentials") != "true" || h.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", h)
	}
	a.wantError(404, "the namespace of this agent is agents", a.do("POST", "/codec/decode", clear, "X-Namespace: other"))
	a.wantError(400, "payloads", a.do("POST", "/codec/decode", `{"payloads":7}`))
	foreign := strings.ReplaceAll(encrypted.raw, base64.StdEncoding.EncodeToString([]byte("k1")), base64.StdEncoding.EncodeToString([]byte("k2")))
	if r := a.want(200, a.do("POST", "/codec/decode", foreign)); !strings.Contains(r.raw, base64.StdEncoding.EncodeToString([]byte("binary/encrypted"))) {
		t.Errorf("with an unknown key: %s", r.raw)
	}
}

func TestOnlyTheWebUIMayReadWhatIsDecrypted(t *testing.T) {
	a := newAPI(t, &fakeBackend{}, withCodec(t))
	for _, origin := range []string{"https://chat.example.com", "https://evil.example", "https://temporal.example.com.evil.example", "null"} {
		r := a.do("POST", "/codec/decode", clear, "Origin: "+origin, "Sec-Fetch-Site: cross-site")
		if r.status != 403 || !strings.Contains(r.raw, "encryption.web_ui") || r.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d %v", origin, r.status, r.header)
		}
	}
	if r := a.do("OPTIONS", "/codec/decode", "", "Origin: "+webUI, "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type,x-namespace"); r.status != 204 ||
		r.header.Get("Access-Control-Allow-Credentials") != "true" || r.header.Get("Access-Control-Allow-Headers") != "content-type,x-namespace" {
		t.Errorf("preflight: %d %v", r.status, r.header)
	}
	r := a.do("OPTIONS", "/conversations", "", "Origin: "+webUI, "Access-Control-Request-Method: POST")
	if r.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("the Web UI may use the API: %v", r.header)
	}
	r = a.want(200, a.do("GET", "/health", "", "Origin: https://chat.example.com"))
	if r.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Error("cookies go to another origin")
	}
}

func TestClearTextIsForThoseWhoMayReadAll(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys.json")
	reader := keys.NewReader(file, slog.New(slog.DiscardHandler))
	t.Cleanup(reader.Close)
	a := newAPI(t, &fakeBackend{}, withCodec(t), func(d *gateway.Deps) { d.Callers = identity.Ways{identity.NewKeys(reader)} })
	want := map[string]int{"read:all": 200, "read": 403, "operate": 403}
	made := map[string]string{}
	for scope := range want {
		var err error
		if made[scope], err = keys.Add(file, strings.ReplaceAll(scope, ":", "-"), []string{scope}, time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	a.wantError(401, "", a.do("POST", "/codec/decode", clear))
	for scope, status := range want {
		if r := a.do("POST", "/codec/decode", clear, "Authorization: Bearer "+made[scope]); r.status != status {
			t.Errorf("%s: %d %s", scope, r.status, r.raw)
		}
	}
}

// The Web UI does not have the token of the session.
func TestALoginSufficesForTheWebUI(t *testing.T) {
	b := newLogins(t, withCodec(t)).visitor().login()
	b.want(200, b.do("POST", "/codec/decode", clear, "Origin: "+webUI))
	b.wantError(403, "X-CSRF-Token", b.do("POST", "/conversations", `{}`))
}

func TestWithoutKeysNothingIsDecrypted(t *testing.T) {
	a := newAPI(t, &fakeBackend{})
	a.wantError(404, "nothing is encrypted here", a.do("POST", "/codec/decode", clear))
}
