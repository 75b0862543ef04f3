package connect_test

import (
	"log/slog"
	"testing"

	"agent-stop-and-go/config/connect"
)

func settings(t *testing.T, o connect.Options) (address, namespace string) {
	t.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	s, err := connect.Settings(o)
	if err != nil {
		t.Fatal(err)
	}
	return s.HostPort, s.Namespace
}

func TestTheEnvironmentWinsOverTheFileButNotOverAnEmbeddedServer(t *testing.T) {
	t.Setenv("TEMPORAL_CONFIG_FILE", t.TempDir()+"/none.toml")
	o := connect.Options{Address: "yaml:7233", Namespace: "from-yaml"}
	if a, n := settings(t, o); a != "yaml:7233" || n != "from-yaml" {
		t.Errorf("without environment: %s %s", a, n)
	}
	t.Setenv("TEMPORAL_ADDRESS", "environment:7233")
	t.Setenv("TEMPORAL_NAMESPACE", "from-environment")
	if a, n := settings(t, o); a != "environment:7233" || n != "from-environment" {
		t.Errorf("with environment: %s %s", a, n)
	}
	o.Embedded = true
	if a, n := settings(t, o); a != "yaml:7233" || n != "from-yaml" {
		t.Errorf("embedded: %s %s", a, n)
	}
}
