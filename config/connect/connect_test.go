package connect_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"agent-stop-and-go/config/connect"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/telemetry"
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

func TestOnlyTheWayToAnEmbeddedServerIsUnpacked(t *testing.T) {
	t.Setenv("TEMPORAL_CONFIG_FILE", t.TempDir()+"/none.toml")
	for _, embedded := range []bool{true, false} {
		s, err := connect.Settings(connect.Options{Embedded: embedded, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if _, none := s.ConnectionOptions.GrpcCompression.(*client.GrpcCompressionNone); none != embedded {
			t.Errorf("embedded %t, without compression %t", embedded, none)
		}
	}
}

func TestTheLogHasDecisionsButNoLinesOfTheSDK(t *testing.T) {
	var out bytes.Buffer
	s, err := connect.Settings(connect.Options{Embedded: true, Logger: slog.New(slog.NewTextHandler(&out, nil))})
	if err != nil {
		t.Fatal(err)
	}
	l := log.With(s.Logger, "WorkflowType", "Approval", "RunID", "r-1")
	l.Info("Started Worker")
	l.Debug("polled")
	l.Info(contract.LogDecision, "uuid", "u-1", "by", "alice")
	l.Error("Activity error.", "Error", "away")
	l.Warn(telemetry.LogFailure, "activity", "call_tool", "kind", "tool_unavailable")
	l.Warn("Task processing failed")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || !strings.HasSuffix(lines[1], `level=WARN msg="attempt failed" activity=call_tool kind=tool_unavailable`) ||
		!strings.HasSuffix(lines[0], `level=INFO msg="approval decided" uuid=u-1 by=alice`) ||
		!strings.HasSuffix(lines[2], `level=WARN msg="Task processing failed" WorkflowType=Approval RunID=r-1`) {
		t.Errorf("logged\n%s", &out)
	}
}
