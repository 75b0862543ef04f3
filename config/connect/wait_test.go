package connect_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"

	"agent-stop-and-go/config/connect"
)

// frontend is a Temporal server that accepts connections.
type frontend struct {
	workflowservice.UnimplementedWorkflowServiceServer
}

func (frontend) GetSystemInfo(context.Context, *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return &workflowservice.GetSystemInfoResponse{}, nil
}

// watchedLog calls line with every line of a log.
func watchedLog(line func(string)) *slog.Logger {
	return slog.New(slog.NewTextHandler(lineWriter(line), nil))
}

type lineWriter func(string)

func (w lineWriter) Write(p []byte) (int, error) {
	w(string(bytes.TrimSpace(p)))
	return len(p), nil
}

func TestDialWaitsForAServerThatComesUpLater(t *testing.T) {
	t.Setenv("TEMPORAL_CONFIG_FILE", t.TempDir()+"/none.toml")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	workflowservice.RegisterWorkflowServiceServer(server, frontend{})
	t.Cleanup(server.Stop)
	serving := make(chan error, 1)
	waits := 0
	logger := watchedLog(func(line string) {
		if !strings.Contains(line, "Temporal is not there yet") || !strings.Contains(line, address) {
			return
		}
		if waits++; waits != 2 {
			return
		}
		l, err := net.Listen("tcp", address)
		if err != nil {
			serving <- err
			return
		}
		go func() { serving <- server.Serve(l) }()
	})
	c, settings, err := connect.Dial(t.Context(), connect.Options{Address: address, Namespace: "n", Logger: logger, Pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	server.Stop()
	if err := <-serving; err != nil {
		t.Error(err)
	}
	if settings.HostPort != address || waits < 2 {
		t.Errorf("connected to %s after %d lines", settings.HostPort, waits)
	}
}

func TestWaitingForAServerEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	logger := watchedLog(func(string) { cancel() })
	err := connect.WhenUp(ctx, connect.Options{Logger: logger, Pause: time.Hour}, "x:1", func(context.Context) error {
		return serviceerror.NewUnavailable("connection refused")
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestErrorsThatAreWaitedOut(t *testing.T) {
	refused := errors.New("certificate of another")
	for _, tt := range []struct {
		err   error
		tries int
	}{
		{refused, 1},
		{serviceerror.NewPermissionDenied("no", ""), 1},
		{serviceerror.NewUnavailable("down"), 3},
		{serviceerror.NewNamespaceNotFound("n"), 3},
		{context.DeadlineExceeded, 3},
	} {
		tries := 0
		err := connect.WhenUp(t.Context(), connect.Options{Logger: slog.New(slog.DiscardHandler), Pause: time.Millisecond}, "x:1", func(context.Context) error {
			if tries++; tries == 3 {
				return nil
			}
			return tt.err
		})
		if tries != tt.tries || tt.tries == 1 && !errors.Is(err, tt.err) || tt.tries == 3 && err != nil {
			t.Errorf("%v: %d tries, %v", tt.err, tries, err)
		}
	}
}
