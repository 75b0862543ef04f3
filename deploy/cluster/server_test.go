//go:build cluster

package cluster

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// server starts a Temporal server on a database, and returns it with the address of its health.
func server(t *testing.T, name string, db *database) (*process, string) {
	t.Helper()
	ui := freePort(t)
	p := start(t, name, program(t, "agent", "temporal", "--db", db.url("temporal"), "--port", strconv.Itoa(freePort(t)), "--ui-port", strconv.Itoa(ui)))
	return p, fmt.Sprintf("http://127.0.0.1:%d/healthz", ui)
}

// A second server waits until the first one has gone, however that happened.
func TestASecondServerTakesOver(t *testing.T) {
	db := startPostgres(t)
	first, health := server(t, "first", db)
	answers(t, health)
	second, health := server(t, "second", db)
	eventually(t, "the second one waits", func() error {
		if text := second.out.String(); !strings.Contains(text, "waiting until no other server uses the database") {
			return fmt.Errorf("it printed %q", text)
		}
		return nil
	})
	first.end(t, syscall.SIGKILL)
	answers(t, health)
}

// Versions of the server's schemas, of which an older server made a database.
const (
	oldMain       = "1.17"
	oldVisibility = "1.9"
)

// A database that an older server made gets the schema of this one.
func TestAnOlderDatabaseIsMigrated(t *testing.T) {
	db := startPostgres(t)
	made := map[string]string{"temporal": oldMain, "temporal_visibility": oldVisibility}
	for name, version := range made {
		if _, err := db.psql("postgres", "-c", "CREATE DATABASE "+name); err != nil {
			t.Fatal(err)
		}
		build(t, db, name, version)
	}
	p, health := server(t, "server", db)
	answers(t, health)
	for name, version := range made {
		has, err := db.psql(name, "-c", "SELECT curr_version FROM schema_version")
		if err != nil || has == version {
			t.Errorf("%s still has schema %s (%v)", name, has, err)
		}
		if want := fmt.Sprintf("database=%s from=%s to=%s", name, version, has); !strings.Contains(p.out.String(), want) {
			t.Errorf("%q was not logged", want)
		}
	}
}

// build makes the tables of an old version with the files of the server's module.
func build(t *testing.T, db *database, name, version string) {
	t.Helper()
	folder := filepath.Join(serverModule(t), "schema/postgresql/v12", strings.TrimPrefix(name, "temporal_"), "versioned")
	for minor := 0; ; minor++ {
		step := fmt.Sprintf("1.%d", minor)
		for _, file := range changes(t, filepath.Join(folder, "v"+step)) {
			if _, err := db.psql(name, "-f", file); err != nil {
				t.Fatal(err)
			}
		}
		if step == version {
			break
		}
	}
	statement := "CREATE TABLE schema_version (version_partition INT NOT NULL, db_name VARCHAR(255) NOT NULL, creation_time TIMESTAMP, " +
		"curr_version VARCHAR(64), min_compatible_version VARCHAR(64), PRIMARY KEY (version_partition, db_name)); " +
		fmt.Sprintf("INSERT INTO schema_version VALUES (0, '%s', now(), '%s', '0.1')", name, version)
	if _, err := db.psql(name, "-c", statement); err != nil {
		t.Fatal(err)
	}
}

// serverModule is the folder of the module of the Temporal server.
func serverModule(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "go.temporal.io/server")
	cmd.Dir = "../standalone"
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// changes are the files of one version of a schema. There are versions that other schemas have
// and this one has not.
func changes(t *testing.T, folder string) (files []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "manifest.json"))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct{ SchemaUpdateCqlFiles []string }
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	for _, name := range manifest.SchemaUpdateCqlFiles {
		files = append(files, filepath.Join(folder, name))
	}
	return files
}
