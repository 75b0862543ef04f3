package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"agent-stop-and-go/config/header"
	"agent-stop-and-go/workflows/contract"
	"agent-stop-and-go/workflows/contract/modality"
)

var (
	entryName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	variableName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)
)

// Limits of the time for one call of a model.
const (
	minModelTimeout = time.Second
	maxModelTimeout = time.Hour
	maxModelTotal   = 3 * maxModelTimeout // there are three attempts
)

func checkModels(r *report, models registry) {
	for _, name := range models.names() {
		path, e := join("models", name), models[name]
		if !entryName.MatchString(name) {
			r.at(path, "%s: a name has 1 to 64 letters, digits, points, - and _, the first one a letter or a digit", quote(name))
		}
		checkEntry(r, path, e)
		checkHeaders(r, path+".headers", e.Headers, header.OfMCP)
		models.checkFallback(r, path+".fallback", name)
	}
}

func checkEntry(r *report, path string, e ModelEntry) {
	if strings.ContainsFunc(e.Model, unicode.IsSpace) {
		r.at(path+".model", "%s: must have no spaces", quote(e.Model))
	}
	checkURL(r, path+".base_url", e.BaseURL)
	if e.APIKeyEnv != "" && !variableName.MatchString(e.APIKeyEnv) { // not shown: it may be the key
		r.at(path+".api_key_env", "must be the name of an environment variable, of capital letters, digits and _; the key itself does not belong in this file")
	}
	if e.ContextWindow > 0 && e.ContextWindow <= e.MaxTokens {
		r.at(path+".context_window", "%d: must be more than max_tokens, which is %d", e.ContextWindow, e.MaxTokens)
	}
	if p := contract.Provider(e.Provider); e.PDF != nil && *e.PDF && p != "" && !modality.CanSendPDF(p) {
		r.at(path+".pdf", "the API of %s has no place for a PDF", p)
	}
	checkDuration(r, path+".timeout", e.Timeout, minModelTimeout)
	if e.Timeout > maxModelTimeout {
		r.at(path+".timeout", "%s: must be at most %s", short(e.Timeout), short(maxModelTimeout))
	}
	if e.TotalTimeout != 0 && (e.TotalTimeout < e.Timeout || e.TotalTimeout > maxModelTotal) {
		r.at(path+".total_timeout", "%s: must be at least timeout, which is %s, and at most %s", short(e.TotalTimeout), short(e.Timeout), short(maxModelTotal))
	}
	checkEntryHas(r, path, e)
}

// checkEntryHas reports missing settings of an entry. An entry that could not be read has
// been reported.
func checkEntryHas(r *report, path string, e ModelEntry) {
	line := r.line(path)
	switch {
	case r.failed[path] && e.Provider == "" && e.Model == "": // not a mapping, or empty with an invalid name
		return
	case !r.holds(path+".provider", e.Provider):
		r.atLine(line, path, "provider is required")
	case contract.Provider(e.Provider) == contract.ProviderCompatible && !r.holds(path+".base_url", e.BaseURL):
		r.atLine(line, path, "base_url is required for the provider compatible: where the server is, such as http://localhost:8000/v1")
	}
	if !r.holds(path+".model", e.Model) {
		r.atLine(line, path, "model is required")
	}
}

func (g registry) checkFallback(r *report, path, name string) {
	list := g[name].Fallback
	for i, other := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		_, own := g[other]
		switch {
		case other == "":
			r.at(at, "must not be empty")
		case other == name:
			r.at(at, "%s: a model is no fallback of itself", quote(other))
		case slices.Contains(list[:i], other):
			r.at(at, "%s: is in the list twice", quote(other))
		case !own: // a disabled entry is skipped, which is no mistake
			g.checkName(r, at, other)
		}
	}
}

// checkName accepts the name of a model that can be used.
func (g registry) checkName(r *report, path, name string) {
	if name == "" {
		return
	}
	e, own, err := g.find(name)
	switch {
	case err != nil:
		r.at(path, "%s%s", strings.TrimPrefix(err.Error(), "model "), g.choice(name))
	case own && !e.Enabled:
		r.at(path, "%s is disabled: its entry in %s says enabled: false", quote(name), r.location(join("models", name)+".enabled"))
	}
}

// maxChoice limits how many names an error lists.
const maxChoice = 10

// choice returns the names in models as alternatives to a name.
func (g registry) choice(name string) string {
	if len(g) == 0 || strings.Contains(name, ":") {
		return ""
	}
	names := g.names()
	if len(names) > maxChoice {
		names = append(names[:maxChoice], "…")
	}
	text := "; names in models are " + strings.Join(names, ", ")
	if similar := g.similar(name); similar != "" {
		text += "; did you mean " + similar + "?"
	}
	return text
}
