//go:build unix

package filesystem_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

const nobody = 65534

// asNobody runs the calling test again in a process without privileges.
func asNobody(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "nobody-")
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	must(t, os.Chmod(dir, 0o777))
	program := filepath.Join(dir, "test")
	copyProgram(t, program)
	cmd := exec.Command(program, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Errorf("%v\n%s", err, out)
	}
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	from, err := os.Open(os.Args[0])
	must(t, err)
	defer from.Close()
	file, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	must(t, err)
	_, err = io.Copy(file, from)
	must(t, err)
	must(t, file.Close())
	must(t, os.Chmod(to, 0o755))
}
