// Package duration reads durations as the configuration and the flags have them: those of package
// time, with the units d (24 hours) and w (7 days) besides, such as 90d, 2w or 1d12h.
package duration

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// Parse parses a duration. Weeks and days are whole numbers, and come before the other units.
func Parse(s string) (time.Duration, error) {
	digits := strings.TrimLeft(s, "+-")
	rest, weeks, err := leading(digits, "w", week)
	if err != nil {
		return 0, invalid(s)
	}
	rest, days, err := leading(rest, "d", day)
	if err != nil || weeks > math.MaxInt64-days {
		return 0, invalid(s)
	}
	whole := weeks + days
	if rest == digits { // neither
		return time.ParseDuration(s)
	}
	var others time.Duration
	if rest != "" {
		if others, err = time.ParseDuration(rest); err != nil || others < 0 || others > math.MaxInt64-whole {
			return 0, invalid(s)
		}
	}
	switch sign := s[:len(s)-len(digits)]; sign {
	case "", "+":
		return whole + others, nil
	case "-":
		return -(whole + others), nil
	}
	return 0, invalid(s)
}

// leading cuts a whole number with a unit from the beginning of s, if it is there.
func leading(s, unit string, size time.Duration) (rest string, d time.Duration, err error) {
	number, rest, found := strings.Cut(s, unit)
	if !found {
		return s, 0, nil
	}
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil || time.Duration(n) > math.MaxInt64/size {
		return s, 0, invalid(s)
	}
	return rest, time.Duration(n) * size, nil
}

func invalid(s string) error { return fmt.Errorf("invalid duration %q", s) }

// Value is a duration as a flag.
type Value time.Duration

// Set implements pflag.Value.
func (v *Value) Set(s string) error {
	d, err := Parse(s)
	if err != nil {
		return fmt.Errorf("expected a duration such as 30s, 12h, 90d or 2w")
	}
	*v = Value(d)
	return nil
}

func (v *Value) String() string { return time.Duration(*v).String() }

// Type implements pflag.Value.
func (v *Value) Type() string { return "duration" }
