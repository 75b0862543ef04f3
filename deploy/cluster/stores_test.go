//go:build cluster

package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// database is a PostgreSQL server that belongs to the test.
type database struct {
	*process
	port          int
	programs, dir string
}

// password is that of the user of the database.
const password = "correct/horse@battery"

// passwordFile is a file with the password, as a container gets it.
func passwordFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// url is the address of a database, without the password.
func (d *database) url(name string) string {
	return fmt.Sprintf("postgres://temporal@127.0.0.1:%d/%s", d.port, name)
}

// startPostgres makes a database in a folder of the test and starts it. PostgreSQL does not run
// as root, so it runs as the user that its package has.
func startPostgres(t *testing.T) *database {
	t.Helper()
	programs := postgresPrograms(t)
	dir, owner := ownedDir(t), unprivileged(t)
	data, secret := filepath.Join(dir, "data"), filepath.Join(dir, "password")
	if err := os.WriteFile(secret, []byte(password), 0o644); err != nil {
		t.Fatal(err)
	}
	initdb := exec.Command(filepath.Join(programs, "initdb"), "-D", data, "-A", "scram-sha-256", "--pwfile", secret, "-U", "temporal", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = dir, owner
	if out, err := initdb.CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	d := &database{port: freePort(t), programs: programs, dir: dir}
	d.start(t)
	return d
}

// start starts the server on its data, for the first time or again.
func (d *database) start(t *testing.T) {
	t.Helper()
	if d.process != nil {
		d.again(t)
	} else {
		d.process = start(t, "postgres", d.command(t))
		d.stop = syscall.SIGINT // with SIGTERM it waits for its clients
	}
	eventually(t, "PostgreSQL is ready", func() error {
		_, err := d.psql("postgres", "-c", "SELECT 1")
		return err
	})
}

func (d *database) command(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(filepath.Join(d.programs, "postgres"), "-D", filepath.Join(d.dir, "data"), "-p", strconv.Itoa(d.port), "-k", d.dir, "-c", "listen_addresses=127.0.0.1")
	cmd.Dir, cmd.SysProcAttr = d.dir, unprivileged(t)
	return cmd
}

// psql runs PostgreSQL's client on a database, and returns what it prints, without headings.
func (d *database) psql(name string, args ...string) (string, error) {
	cmd := exec.Command(filepath.Join(d.programs, "psql"), append([]string{"-X", "-w", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", d.url(name)}, args...)...)
	cmd.Env = append(os.Environ(), "PGPASSWORD="+password)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("psql: %w\n%s", err, out)
	}
	return strings.TrimSpace(string(out)), err
}

// postgresPrograms is the folder of the newest PostgreSQL of this machine.
func postgresPrograms(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		t.Fatal(err)
	}
	if own, err := exec.LookPath("initdb"); err == nil && len(found) == 0 {
		found = append(found, own)
	}
	if len(found) == 0 {
		t.Fatal("there is no PostgreSQL: install it (apt-get install postgresql)")
	}
	return filepath.Dir(found[len(found)-1])
}

// ownedDir is a folder of the user that runs PostgreSQL.
func ownedDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "cluster-postgres-") // t.TempDir is below folders of root
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if attr := unprivileged(t); attr != nil {
		if err := os.Chown(dir, int(attr.Credential.Uid), int(attr.Credential.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// unprivileged makes a process run as the user postgres if the test runs as root.
func unprivileged(t *testing.T) *syscall.SysProcAttr {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}

// startRedis starts a Redis server that keeps nothing, and returns its port.
func startRedis(t *testing.T) (*process, int) {
	t.Helper()
	port := freePort(t)
	cmd := exec.Command("redis-server", "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
	cmd.Dir = t.TempDir()
	return start(t, "redis", cmd), port
}
