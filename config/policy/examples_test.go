package policy_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/policy"
)

// Every rule of the examples is tried by a case, and decides one.
func TestTheRulesOfTheExamples(t *testing.T) {
	dir := filepath.Join("..", "examples")
	gates := filepath.Join(t.TempDir(), "agent.yaml")
	rules, err := filepath.Abs(filepath.Join(dir, "rules", "gates.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	up, err := filepath.Rel(filepath.Dir(gates), rules)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gates, []byte("approval: {include: ["+up+"]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, cases := range map[string]string{filepath.Join(dir, "rules.yaml"): "cases.yaml", gates: "gates-cases.yaml"} {
		c, err := config.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(filepath.Join(dir, "rules", cases))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		all, err := policy.ReadCases(f)
		if err != nil {
			t.Fatal(err)
		}
		report, err := c.Policy().Run(all, time.Now())
		if err != nil || report.Failed() > 0 || len(report.Unmatched)+len(report.Undecided) > 0 {
			t.Errorf("%s: %+v, %v", cases, report, err)
		}
	}
}
