package definition_test

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestArgumentsThatWouldBeCodeOrAProgramAreRefused(t *testing.T) {
	for _, command := range []string{
		`ssh, host, grep, --, "{x}"`, `su, -c, ls, --, "{x}"`, `sed, --, "{x}"`, `awk, --, "{x}"`, `bash, --, "{x}"`, `bash, "{x}"`, `bash, run.sh, "{x}"`,
		`sed, -n, --, "{x}"`, `sed, p, [-e, "{x}"]`, `awk, -F, ":", "{x}"`, `python3, -W, ignore, --, "{x}"`,
		`php, -c, php.ini, --, "{x}"`, `deno, run, -c, deno.json, --, "{x}"`, `node, -r, hook.js, --, "{x}"`, `deno, run, --, "{x}"`, `bash, -c, "{choose}"`, `env, "{x}"`, `env, -S, "{x}"`, `env, A=b, "{x}"`, `sudo, "{x}"`, `sudo, -u, me, "{x}"`, `sudo, "{choose}", "{x}"`,
		`sudo, [nice, "{maybe}"], "{x}"`, `timeout, "5", "{x}"`, `timeout, "{n}", "{x}"`, `xargs, "{x}"`, `sudo, timeout, "5", "{x}"`, `flock, f, -c, "{x}"`,
		`docker, exec, c, sh, -c, "{x}"`, `docker, exec, c, "{x}"`, `docker, exec, ["{maybe}"], ls, "{x}"`, `docker, run, --rm, "{x}"`, `kubectl, exec, p, --, sh, -c, "{x}"`, `podman, exec, -u, me, c, bash, "{x}"`,
		`find, ., -exec, "{x}", ;`, `find, ., -exec, sh, -c, "{x}", ;`, `find, ., -name, a, -exec, ls, ;, -exec, "{x}", ;`, `prog, bash, -o, pipefail, -c, "{x}"`, `prog, [bash, -c, "{x}"]`,
	} {
		if _, err := parse(t, head+"  - {name: choose, type: choice, choices: [a], default: a}\ncommand: ["+command+"]\n"); err == nil || !strings.Contains(err.Error(), "line 10: ") {
			t.Errorf("%s: %v", command, err)
		}
	}
}

func TestArgumentsThatAreDataAreAccepted(t *testing.T) {
	for _, command := range []string{
		`grep, -r, --, "{x}", .`, `bash, run.sh, --, "{x}"`, `bash, -x, run.sh, --, "{x}"`, `bash, --, run.sh, "{x}"`, `python3, -m, tool, --, "{x}"`, `python3, -c, "print(1)", --, "{x}"`,
		`perl, -pe, "1", --, "{x}"`, `sed, -ne, p, "{x}"`, `php, -r, "1;", --, "{x}"`, `php, -f, a.php, --, "{x}"`, `bash, -ec, "ls", --, "{x}"`,
		`sed, -n, p, "{x}"`, `sed, -e, p, --, "{x}"`, `awk, -F, ":", "{ print }", "{x}"`, `ssh, host, uptime, "{n}", "{choose}"`, `bash, run.sh, "{n}"`, `deno, run, f.ts, --, "{x}"`,
		`env, A=b, ls, "{x}"`, `sudo, -u, me, ls, "{x}"`, `sudo, -n, ls, "{x}"`, `timeout, "{n}", ls, "{x}"`, `timeout, -k, "1", "5", ls, "{x}"`, `xargs, "-0", grep, --, "{x}"`,
		`docker, logs, "{x}"`, `docker, exec, "{x}", ls`, `docker, exec, -i, c, psql, -c, "{x}"`, `docker, exec, -u, "{x}", c, ls, "{x}"`, `docker, run, --rm, image, ls, "{x}"`,
		`kubectl, exec, "{x}", --, ls, "{x}"`, `find, "{x}", -name, "{x}"`, `find, ., -exec, grep, --, "{x}", "{}", ;`, `git, log, [--author, "{maybe}"]`, `sed, [-n, "{on}"], p, "{l}"`,
	} {
		if _, err := parse(t, head+"  - {name: choose, type: choice, choices: [a], default: a}\ncommand: ["+command+"]\n"); err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
}

func TestOnlyTheSeparatorOfTheProgramItselfGuards(t *testing.T) {
	for command, guarded := range map[string]bool{
		`ls, --, "{x}"`: true, `sudo, --, ls, "{x}"`: false, `sudo, ls, --, "{x}"`: true, `kubectl, exec, p, --, ls, "{x}"`: false, `kubectl, exec, p, --, ls, --, "{x}"`: true,
		`find, --, "{x}"`: false,
	} {
		f, err := parse(t, head+"command: ["+command+"]\n")
		if err != nil {
			t.Fatal(command, err)
		}
		values, err := f.Tool.Parameters.Values(map[string]json.RawMessage{"x": json.RawMessage(`"-delete"`)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Tool.Argv(values); (err == nil) != guarded {
			t.Errorf("%s: %v", command, err)
		}
	}
}
