package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// workflow is the part of a workflow file that the test reads.
type workflow struct {
	Jobs map[string]struct {
		Strategy struct {
			Matrix struct{ Target []string }
		}
		Steps []struct{ Uses, Run string }
	}
}

var target = regexp.MustCompile(`(?m)^([a-z-]+):.* ## `)

// What a build of the code host runs can be run anywhere: the work is done by make.
func TestWorkflowsOfTheCodeHostCallMake(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for _, m := range target.FindAllSubmatch(makefile, -1) {
		targets[string(m[1])] = true
	}
	files, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var w workflow
		if err := yaml.Unmarshal(text, &w); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for name, job := range w.Jobs {
			called := job.Strategy.Matrix.Target
			for _, step := range job.Steps {
				if names, ok := strings.CutPrefix(step.Run, "make "); ok && !strings.Contains(names, "$") {
					called = append(called, strings.Fields(names)...)
				}
			}
			if len(called) == 0 {
				t.Errorf("%s: job %s calls no target", file, name)
			}
			for _, c := range called {
				if !targets[c] {
					t.Errorf("%s: job %s calls make %s, which is not there", file, name, c)
				}
			}
		}
	}
}
