package embedded_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"

	"agent-stop-and-go/deploy/standalone/embedded"
)

// wantError wants an error that has all the parts, in order.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want one with %q", parts)
	}
	rest := err.Error()
	for _, part := range parts {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("got %q, want %q in it", err, part)
		}
		rest = after
	}
}

func TestTakenPortsAreRefusedByName(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	dir := t.TempDir()

	_, err = embedded.Start(t.Context(), embedded.Options{DataDir: dir, Port: port})
	wantError(t, err, fmt.Sprintf("port %d is already in use: ", port), "stop the other process", "temporal.port")
	_, err = embedded.Start(t.Context(), embedded.Options{DataDir: dir, UIPort: port})
	wantError(t, err, fmt.Sprintf("port %d is already in use: ", port), "temporal.ui_port", "(0 turns the Web UI off)")
	start(t, embedded.Options{DataDir: dir}) // both left the directory free
}

func TestDirectoryInUseIsRefused(t *testing.T) {
	dir := t.TempDir()
	start(t, embedded.Options{DataDir: dir})
	_, err := embedded.Start(t.Context(), embedded.Options{DataDir: dir})
	wantError(t, err, "data directory "+dir+" is in use by another agent", fmt.Sprintf("(pid %d)", os.Getpid()))
}

func TestDirectoryThatCannotBeWrittenIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := embedded.Start(t.Context(), embedded.Options{DataDir: filepath.Join(file, "data")})
	wantError(t, err, "create data directory "+file, "not a directory")

	readOnly := "/proc" // for root, whom modes do not stop, a folder that the kernel makes up
	if os.Geteuid() != 0 {
		readOnly = filepath.Join(t.TempDir(), "read-only")
		if err := os.Mkdir(readOnly, 0o500); err != nil {
			t.Fatal(err)
		}
	}
	_, err = embedded.Start(t.Context(), embedded.Options{DataDir: readOnly})
	wantError(t, err, "data directory "+readOnly+" is not writable")
}

func TestOtherSchemaIsRefused(t *testing.T) {
	dir := t.TempDir()
	stop(t, start(t, embedded.Options{DataDir: dir}))
	version := filepath.Join(dir, "temporal.db.schema")
	made, err := os.ReadFile(version)
	if err != nil {
		t.Fatal(err)
	}

	for text, parts := range map[string][]string{
		"temporal 9.0, visibility 0.1, 000000000000": {`has database schema "temporal 9.0,`, "of Temporal server 1.", "this version needs", "newer agent", "move the directory away", ".before-"},
		"temporal 0.1, visibility 9.0, 000000000000": {"newer agent"},
		"temporal 0.9, visibility 0.0, 000000000000": {"the lists' schema cannot be migrated", "version of agent that made it"},
		"something else": {`has database schema "something else"`, "move the directory away", "version of agent that made it"},
	} {
		write(t, version, text)
		_, err = embedded.Start(t.Context(), embedded.Options{DataDir: dir})
		wantError(t, err, parts...)
	}

	if err := os.Remove(version); err != nil {
		t.Fatal(err)
	}
	_, err = embedded.Start(t.Context(), embedded.Options{DataDir: dir})
	wantError(t, err, "without temporal.db.schema", "move the directory away")

	write(t, version, string(made))
	start(t, embedded.Options{DataDir: dir})
}

func TestCrashWhileCreatingTheDatabaseDoesNotBrick(t *testing.T) {
	for what, files := range map[string][]string{
		"before the version was written":   {"temporal.db.new"},
		"before the database got its name": {"temporal.db.new", "temporal.db.schema"},
		"a log without its database":       {"temporal.db-wal", "temporal.db-shm"},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			for _, file := range files {
				write(t, filepath.Join(dir, file), "half of something")
			}
			start(t, embedded.Options{DataDir: dir})
		})
	}
}

func TestUnusualDirectoryNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b?c=d#e%20f&g")
	srv := start(t, embedded.Options{DataDir: dir})
	if err := run(t.Context(), dial(t, srv), "there"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "temporal.db")); err != nil {
		t.Error(err)
	}
}

func TestOptionsThatMakeNoSenseAreRefused(t *testing.T) {
	_, err := embedded.Start(t.Context(), embedded.Options{})
	wantError(t, err, "no data directory")
	_, err = embedded.Start(t.Context(), embedded.Options{DataDir: t.TempDir(), Retention: time.Minute})
	wantError(t, err, "retention 1m0s is below the minimum of 1h0m0s")
	_, err = embedded.Start(t.Context(), embedded.Options{DataDir: t.TempDir(), Database: "postgres://u@h/d"})
	wantError(t, err, "a data directory and a database given")
	_, err = embedded.Start(t.Context(), embedded.Options{DataDir: t.TempDir(), Host: "localhost"})
	wantError(t, err, `"localhost" is not an IP address`)

	dir := t.TempDir()
	attribute := func(kind enums.IndexedValueType) embedded.Options {
		return embedded.Options{DataDir: dir, SearchAttributes: map[string]enums.IndexedValueType{"Thing": kind}}
	}
	stop(t, start(t, attribute(enums.INDEXED_VALUE_TYPE_KEYWORD)))
	_, err = embedded.Start(t.Context(), attribute(enums.INDEXED_VALUE_TYPE_INT))
	wantError(t, err, "search attribute Thing is Keyword in this data directory, not Int")
}

func TestAddressesOfDatabasesThatMakeNoSenseAreRefused(t *testing.T) {
	for url, want := range map[string]string{
		"mysql://u:secret@h/d":                   `begins with "mysql"`,
		"postgres://u:secret@h":                  "names no database",
		"postgres://u:secret@h:port/d":           "is not one",
		"postgres://u:secret@h/d?sslmode=secret": "sslmode",
	} {
		_, err := embedded.Start(t.Context(), embedded.Options{Database: url})
		wantError(t, err, want)
		if strings.Contains(err.Error(), "u:secret") {
			t.Errorf("%v has the password", err)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
