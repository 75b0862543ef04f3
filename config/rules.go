package config

import (
	"math"
	"net"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"agent-stop-and-go/config/blobstore"
)

// checkRules applies the rules in the struct tags, except for "required", which checkName and
// similar functions report in their own words.
func checkRules(r *report, path string, rules rules, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			checkRules(r, path, rules, v.Elem())
		}
	case reflect.Float64:
		checkNumber(r, path, rules, v.Float())
	case reflect.Int:
		if _, has := rules.one("default"); !has && v.IsZero() { // not set; scalar has refused an explicit 0
			return
		}
		checkRange(r, path, rules, int(v.Int()))
	case reflect.String:
		checkText(r, path, rules, v.String())
	}
}

func checkRange(r *report, path string, rules rules, n int) {
	low, high := math.MinInt, math.MaxInt
	if s, ok := rules.one("minimum"); ok {
		low, _ = strconv.Atoi(s)
	}
	if s, ok := rules.one("maximum"); ok {
		high, _ = strconv.Atoi(s)
	}
	if n < low || n > high {
		r.at(path, "%d: must be between %d and %d", n, low, high)
	}
}

// checkNumber needs both a lower and an upper bound in the tag.
func checkNumber(r *report, path string, rules rules, n float64) {
	most, _ := rules.one("maximum")
	high, _ := strconv.ParseFloat(most, 64)
	least, inclusive := rules.one("minimum")
	above, _ := rules.one("exclusiveMinimum")
	low, _ := strconv.ParseFloat(least+above, 64)
	switch {
	case inclusive && !(n >= low && n <= high):
		r.at(path, "%s: must be between %s and %s", decimal(n), least, most)
	case !inclusive && !(n > low && n <= high):
		r.at(path, "%s: must be more than %s and at most %s", decimal(n), above, most)
	}
}

// decimal formats a number without an exponent.
func decimal(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func checkText(r *report, path string, rules rules, s string) {
	_, has := rules.one("default")
	if allowed := rules["enum"]; len(allowed) > 0 && !slices.Contains(allowed, s) && (s != "" || has) {
		r.at(path, "%s: must be %s", quote(s), either(allowed))
		return
	}
	_, required := rules.one("required")
	if _, ok := rules.one("minLength"); ok && s == "" && !required {
		r.at(path, "must not be empty")
	}
	if strings.Contains(s, "\x00") {
		r.at(path, "must hold no null byte")
	}
	if most, ok := rules.one("maxLength"); ok {
		if n, _ := strconv.Atoi(most); len([]rune(s)) > n {
			r.at(path, "%s: must have at most %d characters", quote(s), n)
		}
	}
	if pattern, ok := rules.one("pattern"); ok && s != "" && !regexp.MustCompile(pattern).MatchString(s) {
		r.at(path, "%s: must match %s", quote(s), pattern)
	}
}

// either lists alternatives: "a, b or c".
func either(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func checkDuration(r *report, path string, d, least time.Duration) {
	switch {
	case d >= least:
	case least == 0:
		r.at(path, "%s: must not be negative", short(d))
	default:
		r.at(path, "%s: must be at least %s", short(d), short(least))
	}
}

// short formats a duration without the units that are zero: 720h, not 720h0m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)

func checkHost(r *report, path, host string) {
	if host != "" && net.ParseIP(host) == nil && !hostName.MatchString(host) {
		r.at(path, "%s: must be a host name or an IP address, without a port", quote(host))
	}
}

func checkAddress(r *report, path, address string) {
	if address == "" {
		return
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil || !isPort(port) || net.ParseIP(host) == nil && !hostName.MatchString(host) {
		r.at(path, "%s: must be host:port, such as temporal.example.com:7233", quote(address))
	}
}

func checkBlobs(r *report, path, raw string) {
	if raw == "" {
		return
	}
	u, err := url.Parse(raw)
	switch {
	case strings.Contains(raw, "@"): // not shown: it may contain a password
		r.at(path, "must have no user name and password: credentials come from the environment of the process")
	case err == nil && (u.Scheme == "mem" || blobstore.IsObjectStore(u.Scheme) && u.Host != ""):
	case err != nil || u.Scheme != "file" || strings.Trim(u.Path, "/") == "":
		r.at(path, "%s: must be file:///absolute/folder, s3://BUCKET, gs://BUCKET, azblob://CONTAINER or mem://", quote(raw))
	}
}
