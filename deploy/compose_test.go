package deploy_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agent-stop-and-go/config"
)

// The agents of the compose files can be loaded, and answer under the names that others use.
func TestAgentsOfTheComposeFiles(t *testing.T) {
	files, err := filepath.Glob("compose/*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if name == "filesystem" {
			continue // it is of a tool server
		}
		c, err := config.Load(file)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		letter, chained := strings.CutPrefix(name, "agent-")
		if chained && (!slices.Contains(c.AllowedHosts, "gateway-"+letter) || c.Temporal.TaskQueue != name || c.Name != letter) {
			t.Errorf("%s: allowed hosts %v, queue %s, name %s", file, c.AllowedHosts, c.Temporal.TaskQueue, c.Name)
		}
		if c.DataDir != "/data" {
			t.Errorf("%s: its data is in %s, which is not on the volume", file, c.DataDir)
		}
	}
}
