package hosting

import (
	"fmt"
	"regexp"
	"strconv"
	"time"

	"gopkg.in/yaml.v3"
)

// Span is a time.Duration that people write, in YAML and as a flag: as package time has it, with
// whole days (d, 24 hours) and weeks (w) in front if wanted, such as 30m, 1d12h or 2w.
type Span time.Duration

var longUnits = regexp.MustCompile(`^(?:(\d{1,4})w)?(?:(\d{1,5})d)?(.*)$`)

// Set implements flag.Value.
func (s *Span) Set(text string) error {
	m := longUnits.FindStringSubmatch(text)
	if m == nil { // it has a line break
		return fmt.Errorf("invalid duration %q", text)
	}
	weeks, _ := strconv.Atoi(m[1]) // "" is 0
	days, _ := strconv.Atoi(m[2])
	rest := time.Duration(0)
	if m[3] != "" || m[1] == "" && m[2] == "" {
		var err error
		if rest, err = time.ParseDuration(m[3]); err != nil || rest < 0 && weeks+days > 0 {
			return fmt.Errorf("invalid duration %q", text)
		}
	}
	*s = Span(time.Duration(7*weeks+days)*24*time.Hour + rest)
	return nil
}

// String implements flag.Value.
func (s *Span) String() string { return time.Duration(*s).String() }

// UnmarshalYAML implements yaml.Unmarshaler.
func (s *Span) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode && node.Tag == "!!str" && s.Set(node.Value) == nil {
		return nil
	}
	var d time.Duration
	if err := node.Decode(&d); err != nil { // in the words of yaml, which ExplainYAML knows
		return err
	}
	*s = Span(d)
	return nil
}
