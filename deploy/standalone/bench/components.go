package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"
)

// component is a part of an agent, identified by the packages of its code.
type component struct {
	name     string
	packages []string
}

// components of an agent. The innermost function of a stack that belongs to a component
// determines which one the time is counted for; so the time of the standard library counts for
// its caller.
var components = []component{
	{"SQLite", []string{"modernc.org/", "github.com/mattn/go-sqlite3.", "database/sql.", "database/sql/", "github.com/jmoiron/sqlx"}},
	{"gRPC", []string{"google.golang.org/grpc", "golang.org/x/net/http2", "github.com/grpc-ecosystem/"}},
	{"protobuf", []string{"google.golang.org/protobuf", "github.com/gogo/protobuf"}},
	{"SDK", []string{"go.temporal.io/sdk", "go.temporal.io/api"}},
	{"server", []string{"go.temporal.io/server"}},
	{"ours", []string{"agent-stop-and-go/"}},
	{"HTTP, models and tools", []string{"net/http.", "github.com/labstack/", "github.com/openai/", "github.com/mark3labs/"}},
}

// Work of the runtime that belongs to no component, identified by a function on the stack.
var runtimeParts = []component{
	{"runtime: stacks that grow", []string{"runtime.newstack"}},
	{"runtime: garbage collector", []string{"runtime.gcBgMarkWorker", "runtime.gcAssistAlloc", "runtime.bgsweep", "runtime.bgscavenge"}},
	{"runtime: scheduler", []string{"runtime.mcall", "runtime.schedule", "runtime.mstart", "runtime.sysmon", "runtime.findRunnable"}},
}

// printComponents prints the share of each component in a CPU profile.
func printComponents(out io.Writer, file string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	p, err := profile.Parse(in)
	if err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	total, spent := int64(0), map[string]int64{}
	for _, s := range p.Sample {
		nanos := s.Value[len(s.Value)-1]
		total += nanos
		spent[owner(s)] += nanos
	}
	names := make([]string, 0, len(spent))
	for name := range spent {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(spent[b], spent[a]) })
	for _, name := range names {
		if _, err := fmt.Fprintf(out, "%-28s %6.1f %%\n", name, 100*float64(spent[name])/float64(total)); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(out, "%-28s %8s\n", "all", time.Duration(total).Round(time.Second/100))
	return err
}

// owner returns the component that the time of a sample is counted for.
func owner(s *profile.Sample) string {
	stack := functions(s)
	for _, part := range runtimeParts[:2] {
		for _, f := range stack {
			if part.has(f) {
				return part.name
			}
		}
	}
	for _, f := range stack {
		for _, c := range components {
			if c.has(f) {
				return c.name
			}
		}
	}
	for _, f := range stack {
		if runtimeParts[2].has(f) {
			return runtimeParts[2].name
		}
	}
	return "other"
}

// functions returns the functions of a stack, innermost first.
func functions(s *profile.Sample) (names []string) {
	for _, l := range s.Location {
		for _, line := range l.Line {
			names = append(names, line.Function.Name)
		}
	}
	return names
}

func (c component) has(function string) bool {
	return slices.ContainsFunc(c.packages, func(p string) bool { return strings.HasPrefix(function, p) })
}
