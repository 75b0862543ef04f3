package commands_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"agent-stop-and-go/mcpservers/commands"
	"agent-stop-and-go/mcpservers/commands/definition"
)

var (
	vectors = flag.Int("vectors", 60, "number of random argument vectors (make vectors)")
	seed    = flag.Uint64("seed", 0, "seed of the vectors; 0: the time")
	first   = flag.Int("first", 0, "number of the first vector, to go on or to see one again")
	workers = flag.Int("workers", 4, "calls at the same time")
)

// vector is a random tool with a random call, and what its process must get.
type vector struct {
	yaml    string
	args    map[string]any
	argv    []string          // of the process
	env     map[string]string // of the process, for a script
	refused bool
}

// alphabet has what shells, interpreters and parsers of options find special.
var alphabet = []string{"a", "b", "é", "世", "😀", " ", "  ", "\t", "\n", "\r", "\\", "'", "\"", "`", "$", "$(id)", "${HOME}", "%s", "%n", "*", "?", "[a]", "{x}", "{p0}", "{{ .Args.p0 }}",
	"~", "!", "!!", "#", "&", "&&", ";", "|", "||", "<", ">", ">>", "(", ")", "=", "-", "--", "-x", "--help", "-rf /", "..", "/", "\x01", "\x7f", "\u2028", "\ufeff", "\u202e", ",", "@", ":", "^",
	"$(touch made)", "`touch made`", ";touch made;", "|touch made", "&& touch made", "\ntouch made\n", "<(touch made)", "'; touch made; '", "\"; touch made; \"", "a[$(touch made)]"}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(6) {
		b.WriteString(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

// newVector builds the definition and the expected elements side by side.
func newVector(r *rand.Rand, script bool) vector {
	v := vector{args: map[string]any{}, env: map[string]string{}}
	var flags, command strings.Builder
	guarded := false
	for i := range 1 + r.IntN(6) {
		name := fmt.Sprintf("p%d", i)
		variable := "ARG_P" + fmt.Sprint(i)
		if !script && r.IntN(4) == 0 {
			literal := []string{"plain", "-o", "a b", "$(id)", "{}", "*"}[r.IntN(6)]
			fmt.Fprintf(&command, "  - %q\n", literal)
			v.argv = append(v.argv, literal)
		}
		if !script && !guarded && r.IntN(6) == 0 {
			guarded = true
			command.WriteString("  - \"--\"\n")
			v.argv = append(v.argv, "--")
		}
		switch group := r.IntN(3) == 0; r.IntN(4) {
		case 0: // a number
			n := r.Int64N(2001) - 1000
			fmt.Fprintf(&flags, "  - {name: %s, type: int, required: true}\n", name)
			v.args[name] = n
			v.env[variable] = fmt.Sprint(n)
			v.element(&command, name, group, []string{fmt.Sprint(n)}, guarded || script)
		case 1: // true or false
			on := r.IntN(2) == 0
			fmt.Fprintf(&flags, "  - {name: %s, type: bool}\n", name)
			v.args[name] = on
			v.env[variable] = fmt.Sprint(on)
			if !group {
				v.element(&command, name, false, []string{fmt.Sprint(on)}, true)
				continue
			}
			fmt.Fprintf(&command, "  - [\"-f\", \"{%s}\"]\n", name)
			if on {
				v.argv = append(v.argv, "-f")
			}
		case 2: // a list
			var list []string
			for range r.IntN(4) {
				list = append(list, randomText(r))
			}
			fmt.Fprintf(&flags, "  - {name: %s, type: stringList}\n", name)
			v.args[name] = append([]string{}, list...)
			v.env[variable+"_COUNT"] = fmt.Sprint(len(list))
			for n, text := range list {
				v.env[fmt.Sprintf("%s_%d", variable, n)] = text
			}
			v.element(&command, name, group, list, guarded)
		default:
			text := randomText(r)
			fmt.Fprintf(&flags, "  - {name: %s, type: string, required: true}\n", name)
			v.args[name] = text
			v.env[variable] = text
			if group && text == "" {
				fmt.Fprintf(&command, "  - [\"-f\", \"{%s}\"]\n", name)
				continue
			}
			v.element(&command, name, group, []string{text}, guarded)
		}
	}
	v.yaml = "name: v\nshort: s\nflags:\n" + flags.String()
	if script {
		v.argv = nil
		v.yaml += "shell-script: |\n  exec \"$ECHO\"\nenvironment: {ECHO: ECHO_PROGRAM}\n"
	} else {
		v.yaml += "command:\n  - ECHO_PROGRAM\n" + command.String()
	}
	v.yaml += "read: [\"ECHO_PROGRAM\"]\n"
	return v
}

func (v *vector) element(command *strings.Builder, name string, group bool, texts []string, guarded bool) {
	for _, text := range texts {
		v.refused = v.refused || strings.HasPrefix(text, "-") && !guarded
		if group {
			v.argv = append(v.argv, "-f")
		}
		v.argv = append(v.argv, text)
	}
	if group {
		fmt.Fprintf(command, "  - [\"-f\", \"{%s}\"]\n", name)
		return
	}
	fmt.Fprintf(command, "  - \"{%s}\"\n", name)
}

// seen is what the program saw of itself.
type seen struct {
	argv, env []string
	files     []string // in its folder
}

// parseSeen reads what testdata/seen.c prints. An argument cannot have a NUL.
func parseSeen(text string) (s seen, ok bool) {
	entries := strings.Split(text, "\x00")
	if entries[len(entries)-1] != "" {
		return s, false
	}
	for _, entry := range entries[:len(entries)-1] {
		switch kind := entry[:min(1, len(entry))]; kind {
		case "A":
			s.argv = append(s.argv, entry[1:])
		case "E":
			s.env = append(s.env, entry[1:])
		case "F":
			s.files = append(s.files, entry[1:])
		default:
			return s, false
		}
	}
	return s, true
}

// compile builds the program of the vectors. It is in C because starting it is most of the time of the test.
func compile(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "seen")
	var failures string
	for _, flags := range [][]string{{"-static"}, {}} {
		out, err := exec.CommandContext(t.Context(), "cc", append(flags, "-O1", "-o", program, "testdata/seen.c")...).CombinedOutput()
		if err == nil {
			return program
		}
		failures += fmt.Sprintf("%v: %s\n", err, out)
	}
	t.Fatal("compile testdata/seen.c: ", failures)
	return ""
}

func TestRandomVectorsArriveUnchangedAndNothingElseRuns(t *testing.T) {
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-vectors=%d -seed=%d -first=%d", *vectors, *seed, *first)
	server, err := commands.New(commands.Options{})
	if err != nil {
		t.Fatal(err)
	}
	program := compile(t)
	begin := time.Now()
	var done, refused atomic.Int64
	var running sync.WaitGroup
	for worker := range *workers {
		running.Go(func() {
			for n := *first + worker; n < *first+*vectors && !t.Failed(); n += *workers {
				v := newVector(rand.New(rand.NewPCG(*seed, uint64(n))), n%5 == 4)
				if problem := v.check(t, server, program); problem != "" {
					t.Errorf("-first=%d -vectors=1 -seed=%d: %s\n%s\n%q", n, *seed, problem, v.yaml, v.args)
				}
				if v.refused {
					refused.Add(1)
				}
				if count := done.Add(1); count%10_000 == 0 {
					t.Logf("%d of %d, %v", count, *vectors, time.Since(begin).Round(time.Second))
				}
			}
		})
	}
	running.Wait()
	t.Logf("%d vectors, of which %d had to be refused and were, in %v", done.Load(), refused.Load(), time.Since(begin).Round(time.Second))
}

func (v vector) check(t *testing.T, server *commands.Server, program string) string {
	file, err := definition.Parse("v.yaml", []byte(strings.ReplaceAll(v.yaml, "ECHO_PROGRAM", program)))
	if err != nil {
		return err.Error()
	}
	args := map[string]json.RawMessage{}
	for name, value := range v.args {
		args[name], _ = json.Marshal(value)
	}
	tool := commands.Tool{Tool: file.Tool, Program: program}
	script := file.Tool.Script != ""
	if script {
		tool.Program = file.Tool.Shell
	}
	answer, err := server.Call(t.Context(), tool, args)
	if v.refused {
		if err == nil || !strings.Contains(err.Error(), `must not begin with "-"`) {
			return fmt.Sprintf("it was not refused: %v %v", answer, err)
		}
		return ""
	}
	got, ok := parseSeen(answer.Text)
	if err != nil || answer.Failed || !ok {
		return fmt.Sprintf("it failed: %v %q", err, answer.Text)
	}
	if !slices.Equal(got.argv, v.argv) {
		return fmt.Sprintf("argv is %q\nwant    %q", got.argv, v.argv)
	}
	if script {
		env := map[string]string{}
		for _, line := range got.env {
			name, value, _ := strings.Cut(line, "=")
			if strings.HasPrefix(name, "ARG_") {
				env[name] = value
			}
		}
		for name, want := range v.env {
			if env[name] != want {
				return fmt.Sprintf("%s is %q, want %q", name, env[name], want)
			}
		}
		got.files = slices.DeleteFunc(got.files, func(name string) bool { return name == ".script" })
	}
	if len(got.files) > 0 {
		return fmt.Sprintf("something made %q", got.files)
	}
	return ""
}
