package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ollama/ollama/api"
	ollama "github.com/ollama/ollama/types/model"
)

var models = []check{
	{"it is there", func(ctx context.Context, client *api.Client) error {
		version, err := client.Version(ctx)
		if err == nil && version == "" {
			err = errors.New("no version")
		}
		return errors.Join(err, client.Heartbeat(ctx))
	}},
	{"models", func(ctx context.Context, client *api.Client) error {
		list, err := client.List(ctx)
		if err != nil || len(list.Models) == 0 {
			return fmt.Errorf("%+v %v", list, err)
		}
		running, err := client.ListRunning(ctx)
		if err != nil || len(running.Models) == 0 {
			return fmt.Errorf("running: %+v %v", running, err)
		}
		m := list.Models[0]
		if m.Digest == "" || m.ModifiedAt.IsZero() || running.Models[0].ExpiresAt.IsZero() {
			return fmt.Errorf("%+v, running %+v", m, running.Models[0])
		}
		return errors.Join(want("the name", m.Name, model+":latest"), want("the running one", running.Models[0].Name, m.Name))
	}},
	{"a model", func(ctx context.Context, client *api.Client) error {
		shown, err := client.Show(ctx, &api.ShowRequest{Model: model})
		if err != nil {
			return err
		}
		for _, c := range []ollama.Capability{ollama.CapabilityCompletion, ollama.CapabilityTools} {
			if !slices.Contains(shown.Capabilities, c) {
				return fmt.Errorf("it cannot do %s: %v", c, shown.Capabilities)
			}
		}
		return nil
	}},
}

// refused checks that an error has a status and says something.
func refused(err error, status int, says string) error {
	var refusal api.StatusError
	if !errors.As(err, &refusal) || refusal.StatusCode != status || !strings.Contains(refusal.ErrorMessage, says) {
		return fmt.Errorf("%T %v, want %d %s", err, err, status, says)
	}
	return nil
}

var failures = []check{
	{"a model that does not exist", func(ctx context.Context, client *api.Client) error {
		_, shown := client.Show(ctx, &api.ShowRequest{Model: "llama3.2"})
		never := func(api.ChatResponse) error { return errors.New("there is a reply") }
		stream := client.Chat(ctx, &api.ChatRequest{Model: "llama3.2", Messages: []api.Message{{Role: "user", Content: "x"}}}, never)
		return errors.Join(refused(shown, http.StatusNotFound, "not found"), refused(stream, http.StatusNotFound, "not found"))
	}},
	{"what an agent cannot do", func(ctx context.Context, client *api.Client) error {
		_, embedded := client.Embed(ctx, &api.EmbedRequest{Model: model, Input: "x"})
		var all error
		for _, err := range []error{
			embedded,
			client.Pull(ctx, &api.PullRequest{Model: model}, func(api.ProgressResponse) error { return nil }),
			client.Delete(ctx, &api.DeleteRequest{Model: model}),
			client.Copy(ctx, &api.CopyRequest{Source: model, Destination: "x"}),
			client.Create(ctx, &api.CreateRequest{Model: "x", From: model}, func(api.ProgressResponse) error { return nil }),
		} {
			all = errors.Join(all, refused(err, http.StatusNotImplemented, "not supported"))
		}
		return all
	}},
	{"a bad request", func(ctx context.Context, client *api.Client) error {
		_, err := (&talk{client: client, messages: []api.Message{{Role: "owner", Content: "x"}}}).ask(ctx, "")
		return refused(err, http.StatusBadRequest, "")
	}},
}
