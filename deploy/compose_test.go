package deploy_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agent-stop-and-go/config"
	"agent-stop-and-go/config/web"
	"agent-stop-and-go/mcpservers/commands/profile"
	"agent-stop-and-go/mcpservers/hosting"
	"agent-stop-and-go/mcpservers/hosting/auth"
	"agent-stop-and-go/mcpservers/openapi"
	"agent-stop-and-go/mcpservers/prompt"
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

// driveSettings reads a file of mcp-drive, whose module has a test that it accepts the file.
func driveSettings(path string) (hosting.Settings, error) {
	type file struct {
		hosting.Settings `yaml:",inline"`
		Path             string `yaml:"path"`
	}
	f, err := hosting.LoadYAML(path, file{Settings: hosting.DefaultSettings(8096)}, nil)
	if err == nil && f.Path != "/data" {
		err = fmt.Errorf("its folder %q is not the volume", f.Path)
	}
	return f.Settings, err
}

// The further tool servers have files that they accept, and answer at the addresses that COMPOSE.md gives; an agent
// accepts those addresses.
func TestToolServersOfTheComposeFile(t *testing.T) {
	text, err := os.ReadFile("COMPOSE.md")
	if err != nil {
		t.Fatal(err)
	}
	load := map[string]func(string) (hosting.Settings, error){
		"mcp-web": func(p string) (hosting.Settings, error) {
			c, err := mcpweb.LoadConfig(p)
			return c.Settings, errors.Join(err, c.Validate())
		},
		"mcp-openapi": func(p string) (hosting.Settings, error) {
			c, err := openapi.LoadConfig(p)
			return c.Settings, errors.Join(err, c.Validate())
		},
		"mcp-prompt": func(p string) (hosting.Settings, error) {
			c, err := prompt.LoadConfig(p)
			return c.Settings, errors.Join(err, c.Validate())
		},
		"mcp-drive": driveSettings,
		"mcp-commands": func(p string) (hosting.Settings, error) {
			c, err := profile.Load(p)
			return c.Settings, errors.Join(err, c.Validate())
		},
	}
	for name, read := range load {
		s, err := read("compose/tools/" + name + ".yaml")
		if err != nil || s.Host != "0.0.0.0" || s.Kind != auth.None || !slices.Equal(s.AllowedHosts, []string{name}) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		if url := fmt.Sprintf(`url: "http://%s:%d/mcp"`, name, s.Port); !strings.Contains(string(text), url) {
			t.Errorf("COMPOSE.md does not have %s", url)
		}
	}
	if files, err := filepath.Glob("compose/tools/*"); err != nil || len(files) != len(load) {
		t.Errorf("%v, %v", files, err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(mcp_servers:.*?)```").FindSubmatch(text)
	if block == nil {
		t.Fatal("it has no addresses")
	}
	file := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(file, block[1], 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := config.Load(file); err != nil || len(c.MCPServers) != 6 || c.Prompt.Server != "prompts" {
		t.Errorf("%v", err)
	}
}
