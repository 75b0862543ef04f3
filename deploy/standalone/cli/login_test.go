package cli_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/deploy/standalone/cli"
	"agent-stop-and-go/gateway/identity"
	"agent-stop-and-go/gateway/identity/identitytest"
)

// guarded is an agent that only callers with a token of a provider use.
func guarded(t *testing.T, p *identitytest.Provider, audience string) *httptest.Server {
	way := identity.NewOIDC(identity.OIDCSettings{Issuer: p.URL, Audience: audience, SubjectClaim: "sub", GroupsClaim: "groups"})
	mux := http.NewServeMux()
	reply := func(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) } // the client may be gone
	mux.HandleFunc("GET /auth/methods", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{"methods": []identity.Method{{Type: "keys"}, {Type: "oidc", Issuer: p.URL, Audience: audience, Device: &identity.Device{ClientID: identitytest.DeviceClientID}}}})
	})
	mux.HandleFunc("GET /me", func(w http.ResponseWriter, r *http.Request) {
		caller, err := identity.Ways{way}.Identify(r)
		if err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			reply(w, map[string]any{"error": err.Error()})
			return
		}
		reply(w, map[string]any{"authenticated": true, "subject": caller.Subject, "scopes": []string{"read"}})
	})
	mux.HandleFunc("GET /tools", func(w http.ResponseWriter, r *http.Request) {
		if caller, err := (identity.Ways{way}).Identify(r); err != nil || caller.Subject != "alice" {
			w.WriteHeader(http.StatusUnauthorized)
			reply(w, map[string]any{"error": "who are you?"})
			return
		}
		reply(w, map[string]any{"tools": []any{}, "servers": []any{}})
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// terminal runs commands of a user with a home directory of their own.
type terminal struct {
	t    *testing.T
	home string
	key  string
}

func (u terminal) run(args ...string) (stdout, stderr string, err error) {
	u.t.Helper()
	environment := map[string]string{"HOME": u.home, "AGENT_KEY": u.key, "USER": "carol"}
	for _, cmd := range cli.Commands(func(name string) string { return environment[name] }) {
		if cmd.Name() == args[0] {
			var out, problems bytes.Buffer
			cmd.SetOut(&out)
			cmd.SetErr(&problems)
			cmd.SetArgs(args[1:])
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			err := cmd.ExecuteContext(u.t.Context())
			return out.String(), problems.String(), err
		}
	}
	u.t.Fatalf("no command %s", args[0])
	return "", "", nil
}

// approve has a person approve the device as soon as there is one.
func approve(t *testing.T, p *identitytest.Provider) {
	for t.Context().Err() == nil {
		p.ApproveDevices()
		time.Sleep(50 * time.Millisecond)
	}
}

func TestALoginAtATerminal(t *testing.T) {
	p := identitytest.NewProvider(t, identitytest.RSAKey(t, "1"))
	go approve(t, p)
	for audience, what := range map[string]string{"agent": "access token", identitytest.DeviceClientID: "ID token"} {
		agent, u := guarded(t, p, audience), terminal{t: t, home: t.TempDir()}
		if _, _, err := u.run("tools", "--url", agent.URL); cli.ExitCode(err) == 0 {
			t.Fatal("the agent is open")
		}
		stdout, stderr, err := u.run("login", "--url", agent.URL)
		if err != nil || !strings.Contains(stdout, "Logged in as alice") || !strings.Contains(stderr, "WDJB-MJHT") || !strings.Contains(stderr, p.URL+"/verify") {
			t.Fatalf("%s: %v\n%s\n%s", what, err, stdout, stderr)
		}
		if _, _, err := u.run("tools", "--url", agent.URL+"/"); err != nil {
			t.Errorf("%s: after the login: %v", what, err)
		}
		other := guarded(t, p, "other")
		if _, _, err := u.run("tools", "--url", other.URL); cli.ExitCode(err) == 0 {
			t.Errorf("%s: another agent gets the login", what)
		}
		checkPrivate(t, u.home)
		if _, _, err := u.run("logout", "--url", agent.URL); err != nil {
			t.Errorf("%s: logging out: %v", what, err)
		}
		if _, _, err := u.run("tools", "--url", agent.URL); cli.ExitCode(err) == 0 {
			t.Errorf("%s: the login outlives its end", what)
		}
		if _, _, err := u.run("logout", "--url", agent.URL); err == nil || !strings.Contains(err.Error(), "nobody has logged in") {
			t.Errorf("%s: logging out again: %v", what, err)
		}
	}
	if len(p.Revoked()) != 2 {
		t.Errorf("revoked %v", p.Revoked())
	}
}

// checkPrivate fails if anybody else can read what is in a folder.
func checkPrivate(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if files++; err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d files, %v", files, err)
	}
}

func TestALoginIsRefreshed(t *testing.T) {
	p := identitytest.NewProvider(t, identitytest.RSAKey(t, "1"))
	go approve(t, p)
	agent, u := guarded(t, p, "agent"), terminal{t: t, home: t.TempDir()}
	p.LogIn(map[string]any{"exp": time.Now().Add(20 * time.Second).Unix()}) // it is refreshed before its end
	if _, _, err := u.run("login", "--url", agent.URL); err != nil {
		t.Fatal(err)
	}
	p.LogIn(nil)
	for range 2 {
		if _, _, err := u.run("tools", "--url", agent.URL); err != nil {
			t.Errorf("after the refresh: %v", err)
		}
	}
	p.LogIn(map[string]any{"exp": time.Now().Unix()})
	if _, _, err := u.run("login", "--url", agent.URL); err == nil {
		t.Error("a login that has ended at once is taken")
	}
	p.Refuse("invalid_grant")
	if _, _, err := u.run("tools", "--url", agent.URL); err == nil || !strings.Contains(cli.Describe(err), "agent login --url "+agent.URL) {
		t.Errorf("after the end: %v", err)
	}
	u.key = "asg_key" // goes before the login
	if _, _, err := u.run("tools", "--url", agent.URL); err == nil || strings.Contains(cli.Describe(err), "agent login") {
		t.Errorf("with a key: %v", err)
	}
}

func TestAgentsAtWhichNoTerminalLogsIn(t *testing.T) {
	u := terminal{t: t, home: t.TempDir()}
	for body, want := range map[string]string{
		`{"methods":[]}`:                "asks nobody who calls",
		`{"methods":[{"type":"keys"}]}`: "send a key",
		`{"methods":[{"type":"oidc","issuer":"http://login.example.com","audience":"a","device":{"client_id":"x"}}]}`: "needs https",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }))
		if _, _, err := u.run("login", "--url", s.URL); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", body, err)
		}
		s.Close()
	}
	if _, err := os.Stat(filepath.Join(u.home, ".config")); err == nil {
		t.Error("a login that failed is kept")
	}
}
