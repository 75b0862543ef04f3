package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"agent-stop-and-go/config/policy"
)

// Policy returns the named rules of the file, compiled; nil without rules.
func (c *Config) Policy() *policy.Policy { return c.policy }

// CheckRules checks the rules against all tools of the agent.
func (c *Config) CheckRules(tools []policy.Tool) []policy.Fault {
	out := c.policy.Check(tools)
	for i, f := range out {
		at := ruleOrigin{c.file, c.lines[fmt.Sprintf("approval.rules[%d]", f.Rule)]}
		if len(c.ruleOrigins) > 0 {
			at = c.ruleOrigins[f.Rule]
		}
		out[i].File, out[i].Line = at.file, at.line
	}
	return out
}

// factNames are the facts that servers tell the rules.
func (c *Config) factNames() (out []string) {
	for _, s := range c.MCPServers {
		out = append(out, s.Facts...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ruleOrigin is where a rule is written.
type ruleOrigin struct {
	file string
	line int
}

// checkPolicy checks and compiles the rules of the file itself; include adds those of others.
func checkPolicy(r *report, c *Config) {
	rules := c.Approval.Rules
	if len(c.ruleOrigins) > 0 { // checked when they were read
		return
	}
	checkRuleList(r, c, "approval.rules", rules, map[string]bool{})
	for _, m := range c.mistakesIn(rules) {
		r.at(fmt.Sprintf("approval.rules[%d].when", m.Rule), "%s", m.Text)
	}
	if r.err() == nil {
		c.compileRules(r, "approval.rules")
	}
}

// mistakesIn returns the conditions that are none.
func (c *Config) mistakesIn(rules []policy.Rule) []policy.Mistake {
	_, mistakes := policy.New(rules, c.factNames()...)
	return mistakes
}

// checkRuleList checks rules, except their conditions.
func checkRuleList(r *report, c *Config, list string, rules []policy.Rule, seen map[string]bool) {
	for i, rule := range rules {
		path := fmt.Sprintf("%s[%d]", list, i)
		checkName(r, path, rule.Name)
		checkUnique(r, list, path, rule.Name, seen)
		if !r.failed[path] && !r.holds(path+".when", rule.When) {
			r.at(path+".when", "when is required")
		}
		if !r.failed[path] {
			rule.Check(len(c.Auth) > 0 || r.failed["auth"], func(key, problem string) { r.at(path+"."+key, "%s", problem) })
		}
	}
}

// ruleFile is a file of approval.include.
type ruleFile struct {
	Rules []policy.Rule `yaml:"rules"`
}

// include reads the files of approval.include and adds their rules. The mistakes are those of all
// files.
func (c *Config) include() Errors {
	if len(c.Approval.Include) == 0 {
		return nil
	}
	var errs Errors
	seen := map[string]bool{}
	for i, r := range c.Approval.Rules {
		seen[r.Name] = true
		c.addOrigin(c.file, "approval.rules", i, c.lines)
	}
	for i, name := range c.Approval.Include {
		files, err := filepath.Glob(filepath.Join(literally(filepath.Dir(c.file)), name))
		if err == nil && len(files) == 0 {
			err = os.ErrNotExist
		}
		if err != nil {
			path := fmt.Sprintf("approval.include[%d]", i)
			errs = append(errs, &Error{File: c.file, Line: c.lines[path], Path: path, Message: fmt.Sprintf("%s: %v", quote(name), err)})
		}
		for _, file := range files {
			errs = append(errs, c.includeFile(file, seen)...)
		}
	}
	if len(errs) > 0 {
		return errs
	}
	r := newReport(c.file, c.lines)
	c.compileRules(r, "approval.include")
	return r.sorted()
}

// compileRules compiles the rules of all files. A mistake is reported at path, if it is not at the
// rule itself already.
func (c *Config) compileRules(r *report, path string) {
	if len(c.Approval.Rules) > policy.MaxRules {
		r.at(path, "must have at most %d rules in all files", policy.MaxRules)
	}
	compiled, mistakes := policy.New(c.Approval.Rules, c.factNames()...)
	for _, m := range mistakes {
		r.at(path, "rule %s: %s", c.Approval.Rules[m.Rule].Name, m.Text)
	}
	c.policy = compiled
}

// literally escapes what has a meaning in patterns.
func literally(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// includeFile adds the rules of a file.
func (c *Config) includeFile(name string, seen map[string]bool) Errors {
	data, err := read(name)
	if err != nil {
		return Errors{{File: name, Message: fmt.Sprintf("failed to read rules: %v", err)}}
	}
	r := newReport(name, map[string]int{})
	var f ruleFile
	if root := parseDocument(r, data); root != nil && surveyed(r, root) {
		decoder{report: r}.value("", root, reflect.ValueOf(&f).Elem())
		eachField(reflect.ValueOf(&f).Elem(), "", func(path string, field reflect.StructField, v reflect.Value) {
			checkRules(r, path, rulesOf(field), v)
		})
		checkRuleList(r, c, "rules", f.Rules, seen)
		for _, m := range c.mistakesIn(f.Rules) {
			r.at(fmt.Sprintf("rules[%d].when", m.Rule), "%s", m.Text)
		}
	}
	for i, rule := range f.Rules {
		c.Approval.Rules = append(c.Approval.Rules, rule)
		c.addOrigin(name, "rules", i, r.lines)
	}
	return r.sorted()
}

func (c *Config) addOrigin(file, list string, i int, lines map[string]int) {
	c.ruleOrigins = append(c.ruleOrigins, ruleOrigin{file, lines[fmt.Sprintf("%s[%d]", list, i)]})
}
