package deploy_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"agent-stop-and-go/workflows/telemetry"
)

// expressions are the queries of the alert rules and of the dashboard, by what they are for.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	var rules struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	decode(t, "alerts.yaml", yaml.Unmarshal, &rules)
	decode(t, "dashboard.json", json.Unmarshal, &board)
	out := map[string]string{}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			out["alert "+r.Alert] = r.Expr
		}
	}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			out["panel "+p.Title] += " " + target.Expr
		}
	}
	return out
}

func decode(t *testing.T, file string, unmarshal func([]byte, any) error, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("monitoring", file))
	if err == nil {
		err = unmarshal(data, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

var (
	promMetric = regexp.MustCompile(`\b(agent|gen_ai|http|temporal)_[a-z_]+`)
	promSuffix = regexp.MustCompile(`_(seconds|bytes|total|bucket|count|sum)\b`)
)

// Prometheus does not complain about a name that nobody exports: the alert never fires.
func TestAlertsAndDashboardUseMetricsThatExist(t *testing.T) {
	var known []string
	for _, m := range telemetry.Table() {
		known = append(known, strings.ReplaceAll(m.Name, ".", "_"))
		for _, a := range m.Attributes {
			known = append(known, strings.ReplaceAll(a, ".", "_"))
		}
	}
	found := expressions(t)
	if len(found) < 30 {
		t.Fatalf("only %d expressions", len(found))
	}
	for what, expr := range found {
		for _, name := range promMetric.FindAllString(expr, -1) {
			for promSuffix.MatchString(name) && !slices.Contains(known, name) {
				name = name[:strings.LastIndex(name, "_")]
			}
			if !slices.Contains(known, name) && !strings.HasPrefix(name, "temporal_") {
				t.Errorf("%s: there is no %s", what, name)
			}
		}
	}
}

// Whoever is woken by an alert finds it in the page for the night, and what it means in the one about
// monitoring.
func TestEveryAlertIsDocumented(t *testing.T) {
	for what := range expressions(t) {
		alert, ok := strings.CutPrefix(what, "alert ")
		if !ok {
			continue
		}
		for _, file := range []string{"NIGHT.md", "MONITORING.md"} {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(data), "`"+alert+"`") {
				t.Errorf("%s does not name %s", file, alert)
			}
		}
	}
}
