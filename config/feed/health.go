package feed

import (
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
)

// The two directions. Each can fail while the other works.
const (
	reading = iota
	writing
	directions
)

// health is the condition of Redis. It logs the beginning and the end of an outage.
type health struct {
	logger *slog.Logger
	secret string

	mu     sync.Mutex
	causes [directions]string
	logged bool
}

func newHealth(logger *slog.Logger, secret string) *health {
	return &health{logger: logger, secret: secret, causes: [directions]string{reading: "not connected yet"}}
}

func (h *health) problem() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.current()
}

func (h *health) current() string {
	for _, cause := range h.causes {
		if cause != "" {
			return "Redis: " + cause
		}
	}
	return ""
}

// set records the result of an operation in one direction.
func (h *health) set(direction int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.causes[direction] = h.reason(err)
	problem := h.current()
	switch {
	case err != nil && !h.logged:
		h.logged = true
		h.logger.Warn("pieces of replies are not carried; durable events are", "problem", problem)
	case problem == "" && h.logged:
		h.logged = false
		h.logger.Info("pieces of replies are carried again")
	}
}

// reason returns the text of an error without addresses and secrets. Some servers repeat an
// unknown command with the password.
func (h *health) reason(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	if op := new(net.OpError); errors.As(err, &op) && op.Err != nil {
		text = op.Err.Error()
	}
	if dns := new(net.DNSError); errors.As(err, &dns) {
		text = dns.Err
	}
	if h.secret != "" && strings.Contains(text, h.secret) {
		return "it does not do what it was asked"
	}
	return text
}
