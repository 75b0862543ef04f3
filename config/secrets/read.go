package secrets

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// maxFile is the largest size of a file that Read reads.
const maxFile = 64 << 10

// Read returns the secret that a setting refers to as ${NAME} or as file:PATH, without space
// around it. Its errors name the variable or the file, and never the secret.
func Read(setting string, getenv func(string) string) (string, error) {
	if path, ok := strings.CutPrefix(setting, "file:"); ok {
		return readFile(path)
	}
	m := reference.FindStringSubmatch(setting)
	if m == nil || m[0] != setting {
		return "", errors.New("expected ${NAME} or file:PATH")
	}
	value := strings.TrimSpace(getenv(m[1]))
	if value == "" {
		return "", fmt.Errorf("${%s} is not set in the environment", m[1])
	}
	return value, nil
}

func readFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Size() > maxFile {
		return "", fmt.Errorf("%s has %d bytes; expected at most %d", path, info.Size(), maxFile)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(string(data))
	if text == "" {
		return "", fmt.Errorf("%s is empty", path)
	}
	return text, nil
}
