package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/web"
	"agent-stop-and-go/mcpservers/hosting/auth"
	mcpweb "agent-stop-and-go/mcpservers/web"
)

// The agents of the compose files can be loaded, and answer under the names that others use.
func TestAgentsOfTheComposeFiles(t *testing.T) {
	files, err := filepath.Glob("compose/*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if name == "filesystem" || name == "web" {
			continue // it is of no agent
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

func TestThePageOfTheComposeFile(t *testing.T) {
	c, err := web.Load("compose/web.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if c.Agent().Host != "gateway-a:8080" || c.DataDir != "/data" || c.Port != 3000 || len(c.Warnings()) > 0 {
		t.Errorf("%+v, warnings %v", c, c.Warnings())
	}
}

// The tool server that COMPOSE.md adds starts, and answers at the address that it gives.
func TestTheToolServerThatIsAdded(t *testing.T) {
	text, err := os.ReadFile("COMPOSE.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(# mcp-web.yaml\n.*?)```").FindSubmatch(text)
	if block == nil {
		t.Fatal("it has no file")
	}
	file := filepath.Join(t.TempDir(), "mcp-web.yaml")
	if err := os.WriteFile(file, block[1], 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := mcpweb.LoadConfig(file)
	if err == nil {
		err = c.Validate()
	}
	if err != nil || c.Kind != auth.None || c.Port != 8093 || !slices.Equal(c.AllowedHosts, []string{"mcp-web"}) || !strings.Contains(string(text), `url: "http://mcp-web:8093/mcp"`) {
		t.Errorf("%+v, %v", c, err)
	}
}
