package worker

import (
	"errors"
	"strings"

	"agent-stop-and-go/activities/llm"
	"agent-stop-and-go/activities/peer"
	"agent-stop-and-go/config"
	"agent-stop-and-go/config/secrets"
)

// unset lists the variables that are not set, from the errors of their users. Any other error
// is returned.
func unset(errs ...error) (problem string, err error) {
	var problems []string
	for _, err := range errs {
		var unset *secrets.UnsetError
		switch {
		case err == nil:
		case errors.As(err, &unset):
			problems = append(problems, unset.Problem())
		default:
			return "", err
		}
	}
	return strings.Join(problems, "; "), nil
}

// shortcomings returns what is missing in the environment for the models and the other agents
// of a configuration: problems, and notes about replacements. Tool servers report theirs in
// their states.
func shortcomings(c *config.Config, models []llm.Entry, agents []peer.Agent, getenv func(string) string) (problems, notes []string) {
	for _, key := range c.KeysMissing(getenv) {
		if key.Spared {
			notes = append(notes, key.String())
			continue
		}
		problems = append(problems, key.String())
	}
	for _, m := range models {
		if m.Problem != "" {
			problems = append(problems, "model "+m.Name+" cannot be called: "+m.Problem)
		}
	}
	for _, a := range agents {
		if a.Problem != "" {
			problems = append(problems, "agent "+a.Name+" cannot be asked: "+a.Problem)
		}
	}
	return problems, notes
}
