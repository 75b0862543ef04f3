//go:build foreign

package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

const monitoring = "../../monitoring"

// TestPrometheusFiresForAStalledApproval has Debian's Prometheus scrape an agent, with the rules
// of the project but seconds for hours.
func TestPrometheusFiresForAStalledApproval(t *testing.T) {
	h := newHome(t)
	metrics := h.prometheusOn()
	api, _ := h.outside()
	api.ask("call note_list {}")
	asked := api.ask(`call note_add {"name":"apple"}`)
	api.decide(asked.Result.Approval.UUID, `{"approved":false}`)
	api.ask(`call note_add {"name":"pear"}`)
	checkSeries(t, scrape(t, metrics))

	base := startPrometheus(t, strings.TrimSuffix(strings.TrimPrefix(metrics, "http://"), "/metrics"))
	var alerts string
	deadline := time.Now().Add(40 * time.Second)
	for !strings.Contains(alerts, `"alertname":"AgentApprovalStalled"`) || !strings.Contains(alerts, `"firing"`) {
		if time.Now().After(deadline) {
			t.Fatalf("no alert: %s", alerts)
		}
		time.Sleep(500 * time.Millisecond)
		alerts = scrapeQuietly(base + "/api/v1/alerts")
	}
	for _, query := range boardQueries(t) {
		r, err := http.Get(base + "/api/v1/query?query=" + url.QueryEscape(query))
		if err != nil {
			t.Fatal(err)
		}
		if r.Body.Close(); r.StatusCode != http.StatusOK {
			t.Errorf("%s of the dashboard: %s", r.Status, query)
		}
	}
}

// boardQueries returns the queries of the dashboard, with its variables replaced.
func boardQueries(t *testing.T) (queries []string) {
	t.Helper()
	var board struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	data, err := os.ReadFile(filepath.Join(monitoring, "dashboard.json"))
	if err == nil {
		err = json.Unmarshal(data, &board)
	}
	if err != nil || len(board.Panels) == 0 {
		t.Fatalf("dashboard: %d panels, %v", len(board.Panels), err)
	}
	variables := strings.NewReplacer("$__rate_interval", "1m", "$agent", ".*")
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			queries = append(queries, variables.Replace(target.Expr))
		}
	}
	return queries
}

func scrapeQuietly(url string) string {
	r, err := http.Get(url)
	if err != nil {
		return err.Error()
	}
	defer r.Body.Close()
	var b bytes.Buffer
	_, _ = b.ReadFrom(r.Body)
	return b.String()
}

// startPrometheus runs a Prometheus that scrapes a target every second, and returns its URL.
func startPrometheus(t *testing.T, target string) string {
	t.Helper()
	dir := t.TempDir()
	rules, err := os.ReadFile(filepath.Join(monitoring, "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	quick := strings.Replace(string(rules), "agent_approvals_oldest_age_seconds) > 14400", "agent_approvals_oldest_age_seconds) > 5", 1)
	if quick == string(rules) {
		t.Fatal("the rule for stalled approvals is not where it was")
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("alerts.yaml", quick)
	file := write("prometheus.yaml", fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\n"+
		"rule_files: [alerts.yaml]\nscrape_configs: [{job_name: agent, static_configs: [{targets: [%q]}]}]\n", target))
	address := "127.0.0.1:" + strconv.Itoa(freePort(t))
	var log bytes.Buffer
	cmd := exec.Command("prometheus", "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return "http://" + address
}

func TestPrometheusRulesPassTheirUnitTests(t *testing.T) {
	for _, args := range [][]string{{"check", "config", "prometheus.yaml"}, {"test", "rules", "alerts_test.yaml"}} {
		cmd := exec.Command("promtool", args...)
		cmd.Dir = monitoring
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Errorf("promtool %v: %v", args, err)
		}
	}
}

var (
	testSeries = regexp.MustCompile(`(?m)series: (\w+)\{(.*)\}$`)
	labelName  = regexp.MustCompile(`(\w+)="`)
)

// checkSeries compares the series of the unit tests with those of a run: what the run has has
// the labels of the unit tests. Their labels of failures are in the table of metrics.
func checkSeries(t *testing.T, run string) {
	t.Helper()
	tests, err := os.ReadFile(filepath.Join(monitoring, "alerts_test.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, s := range testSeries.FindAllStringSubmatch(string(tests), -1) {
		if s[1] == "agent_audit_unsigned_age_seconds" { // only with witnesses; package telemetry compares its name and labels with its table
			continue
		}
		line := regexp.MustCompile(`(?m)^` + s[1] + `\{(.*)\} `).FindStringSubmatch(run)
		if line == nil {
			t.Errorf("a run without %s", s[1])
			continue
		}
		for _, l := range labelName.FindAllStringSubmatch(s[2], -1) {
			if name := l[1]; name != "job" && name != "instance" && name != "error_type" && !strings.Contains(line[1], name+`="`) {
				t.Errorf("%s has no label %s: {%s}", s[1], name, line[1])
			}
		}
		compared++
	}
	if compared < 15 {
		t.Errorf("compared only %d series", compared)
	}
}
