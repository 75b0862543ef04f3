package peer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"
)

// Peer describes a server: how it is started, and how it is asked. ${NAME} in its texts is a
// variable of the server or, in steps, of the turn.
type Peer struct {
	Name    string            `yaml:"name"`
	Command []string          `yaml:"command"`
	Env     map[string]string `yaml:"env"`
	Files   map[string]string `yaml:"files"` // written to ${DIR} before the start
	Ready   string            `yaml:"ready"` // a URL that answers with 2xx once requests are taken

	List     Step `yaml:"list"`     // ends when the turn has ended
	Approval Step `yaml:"approval"` // ends when the turn waits for a decision
	Decision Step `yaml:"decision"` // ends when the turn has ended

	// Dir is the working directory of the command.
	Dir string `yaml:"-"`
}

// Step is a request and what its response must say. If the response does not say it yet, Poll
// is sent until its response does.
type Step struct {
	Request `yaml:",inline"`
	Until   map[string]string `yaml:"until"` // expected values, by path
	Keep    map[string]string `yaml:"keep"`  // paths of values in the response, by the variables that keep them
	Poll    *Request          `yaml:"poll"`
}

// Request is an HTTP request.
type Request struct {
	Method  string            `yaml:"method"` // empty means GET without a body, POST with one
	URL     string            `yaml:"url"`
	Headers map[string]string `yaml:"headers"`
	Body    any               `yaml:"body"` // sent as JSON
}

// File is the name of the description in a peer's own directory.
const File = "peer.yaml"

// Read reads the descriptions in a directory, sorted by file: its YAML files, and the file
// peer.yaml of each of its directories.
func Read(dir string) ([]Peer, error) {
	own, err := filepath.Glob(filepath.Join(dir, "*", File))
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	files = append(files, own...)
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no peers: expected NAME.yaml or NAME/%s", dir, File)
	}
	slices.Sort(files)
	peers := make([]Peer, len(files))
	for i, file := range files {
		if peers[i], err = read(file); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
	}
	return peers, nil
}

func read(file string) (p Peer, err error) {
	in, err := os.Open(file)
	if err != nil {
		return p, err
	}
	defer in.Close()
	decoder := yaml.NewDecoder(in)
	decoder.KnownFields(true)
	if err := decoder.Decode(&p); err != nil {
		return p, err
	}
	if p.Dir, err = filepath.Abs(filepath.Dir(file)); err != nil {
		return p, err
	}
	return p, p.check()
}

// check reports all that is missing.
func (p Peer) check() error {
	var errs []error
	missing := func(absent bool, what string) {
		if absent {
			errs = append(errs, errors.New(what+" is missing"))
		}
	}
	missing(p.Name == "", "name")
	missing(len(p.Command) == 0, "command")
	missing(p.Ready == "", "ready")
	for _, step := range []struct {
		name string
		Step
	}{{"list", p.List}, {"approval", p.Approval}, {"decision", p.Decision}} {
		missing(step.URL == "", step.name+".url")
		missing(len(step.Until) == 0, step.name+".until")
		missing(step.Poll != nil && step.Poll.URL == "", step.name+".poll.url")
	}
	return errors.Join(errs...)
}
