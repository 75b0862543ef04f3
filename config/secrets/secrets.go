package secrets

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"agent-stop-and-go/workflows/contract/redact"
)

var reference = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// InVariables returns the secrets in env that come from the environment: each value of a
// ${NAME}, and the whole text around it. A value that does not look like a secret (isPlain)
// is one only if its variable, in env or in the environment, has the name of a secret.
func InVariables(env map[string]string, getenv func(string) string) []string {
	return valuesOf(env, getenv, func(name, variable, value string) bool {
		return redact.SecretName(name) || redact.SecretName(variable) || !isPlain(value)
	})
}

// InHeaders is InVariables for headers, in which every ${NAME} is a secret.
func InHeaders(headers map[string]string, getenv func(string) string) []string {
	return valuesOf(headers, getenv, func(string, string, string) bool { return true })
}

func valuesOf(written map[string]string, getenv func(string) string, secret func(name, variable, value string) bool) []string {
	var out []string
	add := func(value string) {
		if value != "" && !slices.Contains(out, value) {
			out = append(out, value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(written)) {
		var parts []string
		for _, m := range reference.FindAllStringSubmatch(written[name], -1) {
			if value := getenv(m[1]); value != "" && secret(name, m[1], value) {
				parts = append(parts, value)
			}
		}
		if len(parts) == 0 {
			continue
		}
		add(reference.ReplaceAllStringFunc(written[name], func(m string) string { return getenv(m[len("${") : len(m)-len("}")]) }))
		for _, value := range parts {
			add(value)
			add(passwordOf(value))
		}
	}
	return out
}

// passwordOf returns the password in a URL, such as that of a database.
func passwordOf(value string) string {
	u, err := url.Parse(value)
	if err != nil {
		return ""
	}
	password, _ := u.User.Password()
	return password
}

// isPlain reports whether a value does not look like a secret: a boolean, a number, a path,
// or a URL without user, secret parameters and long words of digits and letters.
func isPlain(value string) bool {
	if slices.Contains([]string{"true", "false", "yes", "no", "on", "off"}, strings.ToLower(value)) {
		return true
	}
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return true
	}
	for _, begin := range []string{"/", "./", "../", "~/"} {
		if strings.HasPrefix(value, begin) {
			return !hasLongWord(value)
		}
	}
	return strings.Contains(value, "://") && redact.URL(value) == value
}

// hasLongWord reports whether a part of a path has 24 characters or more including digits, as
// keys have.
func hasLongWord(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool {
		return len(part) >= 24 && strings.ContainsAny(part, "0123456789")
	})
}
