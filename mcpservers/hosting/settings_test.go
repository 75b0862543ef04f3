package hosting_test

import (
	"context"
	"flag"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/hosting"

	"github.com/google/go-cmp/cmp"
)

func TestFlagsChangeSettings(t *testing.T) {
	defaults := func(change func(*hosting.Settings)) hosting.Settings {
		s := hosting.Settings{Transport: "http", Host: "127.0.0.1", Port: 1, SessionIdle: hosting.Span(time.Hour), AllowedHosts: []string{"a"}}
		change(&s)
		return s
	}
	for args, want := range map[string]hosting.Settings{
		"":                          defaults(func(*hosting.Settings) {}),
		"--stdio":                   defaults(func(s *hosting.Settings) { s.Transport = "stdio" }),
		"--stdio=false":             defaults(func(*hosting.Settings) {}),
		"--transport sse":           defaults(func(s *hosting.Settings) { s.Transport = "sse" }),
		"--host 0.0.0.0 --port 9":   defaults(func(s *hosting.Settings) { s.Host, s.Port = "0.0.0.0", 9 }),
		"--session-idle 5m":         defaults(func(s *hosting.Settings) { s.SessionIdle = hosting.Span(5 * time.Minute) }),
		"--session-idle 1w2d":       defaults(func(s *hosting.Settings) { s.SessionIdle = hosting.Span(9 * 24 * time.Hour) }),
		"--auth-token-env T":        defaults(func(s *hosting.Settings) { s.AuthTokenEnv = "T" }),
		"--allow-host b":            defaults(func(s *hosting.Settings) { s.AllowedHosts = []string{"a", "b"} }),
		"--allow-origin http://o.p": defaults(func(s *hosting.Settings) { s.AllowedOrigins = []string{"http://o.p"} }),
	} {
		got := defaults(func(*hosting.Settings) {})
		set := flag.NewFlagSet("", flag.ContinueOnError)
		got.Bind(set)
		if err := set.Parse(strings.Fields(args)); err != nil {
			t.Errorf("%s: %v", args, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", args, diff)
		}
		if err := got.Validate(); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestFlagUsageNamesEveryFlag(t *testing.T) {
	set := flag.NewFlagSet("", flag.ContinueOnError)
	new(hosting.Settings).Bind(set)
	set.VisitAll(func(f *flag.Flag) {
		if f.Name != "port" && !strings.Contains(hosting.FlagUsage, "--"+f.Name+" ") {
			t.Errorf("--%s is not explained", f.Name)
		}
	})
}

func TestMistakesAreAllNamed(t *testing.T) {
	err := hosting.Settings{Port: 70000, AllowedHosts: []string{"http://a", ""}, AllowedOrigins: []string{"a.com", "http://a/b"}}.Validate()
	for _, want := range []string{`transport "" is unknown`, "host is empty", "port 70000", "session_idle 0s", `"http://a"`, `""`, `"a.com"`, `"http://a/b"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %s in %v", want, err)
		}
	}
}

func TestTheTokenComesFromTheEnvironment(t *testing.T) {
	getenv := func(name string) string { return map[string]string{"GOOD": " secret\n", "BLANK": " "}[name] }
	for name, want := range map[string]string{"": "", "GOOD": "secret"} {
		if got, err := (hosting.Settings{AuthTokenEnv: name}).Token(getenv); got != want || err != nil {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"BLANK", "MISSING"} {
		if got, err := (hosting.Settings{AuthTokenEnv: name}).Token(getenv); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestRunRefusesWhatCannotWork(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for want, settings := range map[string]hosting.Settings{
		"the port is taken":    hosting.DefaultSettings(taken.Addr().(*net.TCPAddr).Port),
		"port -1":              hosting.DefaultSettings(-1),
		"listen on no.invalid": {Transport: "http", Host: "no.invalid", SessionIdle: hosting.Span(time.Hour)},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		err := hosting.Run(ctx, hosting.Options{Settings: settings, Stdin: strings.NewReader(""), Stdout: io.Discard}, newExample().MCPServer)
		if cancel(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
