package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"agent-stop-and-go/config"
	"agent-stop-and-go/worker"
)

// validation has the settings of a check of a configuration.
type validation struct {
	file string
	// demo means that the offline model replaces a model without a key.
	demo bool
	// connect means that the tool servers are contacted, too.
	connect bool
}

// run prints the resolved configuration. It fails on mistakes, on missing environment
// variables, and on problems of the contacted tool servers.
func (v validation) run(ctx context.Context, getenv func(string) string, stdout io.Writer) error {
	c, err := config.Load(v.file)
	if err != nil {
		return err
	}
	var notes []string
	if v.demo {
		notes = chooseModel(c, true, getenv)
	}
	if err := c.Describe(stdout, getenv); err != nil {
		return err
	}
	for _, note := range notes {
		if _, err := fmt.Fprintf(stdout, "\n%s\n", note); err != nil {
			return err
		}
	}
	var problems []string
	for _, p := range c.Problems(getenv) {
		problems = append(problems, p.Error())
	}
	if v.connect {
		found, err := worker.Connect(ctx, c, getenv)
		if err != nil {
			problems = append(problems, err.Error())
		}
		problems = append(problems, found...)
	}
	if len(problems) > 0 {
		return errors.New(strings.Join(problems, "\n"))
	}
	return nil
}
