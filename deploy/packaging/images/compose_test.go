package images_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
)

// load reads a compose file as docker compose does: it is checked against the schema of the
// specification, and its references against each other.
func load(t *testing.T, name string) *types.Project {
	t.Helper()
	o, err := cli.NewProjectOptions([]string{filepath.Join(root, "deploy", name)}, cli.WithConsistency(true), cli.WithProfiles([]string{"*"}), cli.WithResolvedPaths(true))
	if err != nil {
		t.Fatal(err)
	}
	p, err := o.LoadProject(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var composeFiles = []string{"compose.yaml", "compose.single.yaml"}

func TestComposeFilesAreClosed(t *testing.T) {
	for _, name := range composeFiles {
		for _, s := range load(t, name).Services {
			for _, port := range s.Ports {
				if port.HostIP != "127.0.0.1" {
					t.Errorf("%s: %s publishes port %s on %q", name, s.Name, port.Published, port.HostIP)
				}
			}
			if s.Name != "postgres" && (!s.ReadOnly || !slices.Contains(s.CapDrop, "ALL") || !slices.Contains(s.SecurityOpt, "no-new-privileges:true")) {
				t.Errorf("%s: %s may write, or has capabilities", name, s.Name)
			}
			for key, value := range s.Environment {
				if value != nil && !strings.HasSuffix(key, "_FILE") && (strings.Contains(key, "PASSWORD") || strings.Contains(key, "KEY")) {
					t.Errorf("%s: %s has %s in its environment", name, s.Name, key)
				}
			}
		}
	}
}

// A service that others wait for says when it is healthy, itself or by its image.
func TestServicesStartInTheOrderOfTheirHealth(t *testing.T) {
	all := stages(t)
	for _, name := range composeFiles {
		p := load(t, name)
		for _, s := range p.Services {
			for dependency, how := range s.DependsOn {
				on := p.Services[dependency]
				if how.Condition != types.ServiceConditionHealthy {
					continue
				}
				if on.HealthCheck == nil && !imageHasHealthCheck(t, all, on) {
					t.Errorf("%s: %s waits for %s, which never says that it is healthy", name, s.Name, dependency)
				}
			}
		}
	}
}

func imageHasHealthCheck(t *testing.T, all []instructions.Stage, s types.ServiceConfig) bool {
	t.Helper()
	if s.Build == nil {
		return false
	}
	checks := commands[*instructions.HealthCheckCommand](stage(t, all, s.Build.Target))
	return len(checks) == 1 && checks[0].Health.Test[0] != "NONE"
}

// Files that are mounted are there, and the Dockerfile has the targets that are built.
func TestComposeFilesNameWhatIsThere(t *testing.T) {
	all := stages(t)
	for _, name := range composeFiles {
		for _, s := range load(t, name).Services {
			for _, v := range s.Volumes {
				if _, err := os.Stat(v.Source); v.Type == types.VolumeTypeBind && err != nil {
					t.Errorf("%s: %s: %v", name, s.Name, err)
				}
			}
			if s.Build != nil && !strings.HasSuffix(strings.Split(s.Image, ":")[0], "/"+stage(t, all, s.Build.Target).Name) {
				t.Errorf("%s: %s is built from the stage %s", name, s.Image, s.Build.Target)
			}
		}
	}
}
