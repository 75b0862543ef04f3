package hosting_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"agent-stop-and-go/mcpservers/hosting"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// updates returns a channel with the URIs of the updates that a client receives.
func updates(c *client.Client) <-chan string {
	uris := make(chan string, 100)
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == mcp.MethodNotificationResourceUpdated {
			uris <- fmt.Sprint(n.Params.AdditionalFields["uri"])
		}
	})
	return uris
}

func subscribe(t *testing.T, c *client.Client, uri string) {
	t.Helper()
	var request mcp.SubscribeRequest
	request.Params.URI = uri
	//lint:ignore SA1019 clients of protocol 2025-11-25 do this
	if err := c.Subscribe(t.Context(), request); err != nil {
		t.Fatal(err)
	}
}

func TestSubscribersAreNotifiedAndOthersAreNot(t *testing.T) {
	s := serve(t, hosting.Options{})
	clients := map[string]*client.Client{
		//lint:ignore SA1019 clients of protocol 2025-11-25 do this
		"streamable": dial(t, s.url, transport.WithContinuousListening()),
		"sse":        dialSSE(t, s.url),
	}
	var all []<-chan string
	for name, c := range clients {
		all = append(all, updates(c))
		subscribe(t, c, "thing://"+name)
		subscribe(t, c, "thing://both")
		subscribe(t, c, "thing://gone")
		var gone mcp.UnsubscribeRequest
		gone.Params.URI = "thing://gone"
		//lint:ignore SA1019 clients of protocol 2025-11-25 do this
		if err := c.Unsubscribe(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
	}
	s.subscriptions.Updated("thing://gone", "thing://streamable", "thing://sse", "thing://both")
	for _, h := range all {
		one, both := <-h, <-h
		if (one != "thing://streamable" && one != "thing://sse") || both != "thing://both" {
			t.Errorf("got %s, %s", one, both)
		}
	}
}

func TestAModernClientListensToWhatItNames(t *testing.T) {
	s := serve(t, hosting.Options{})
	c := dialModern(t, s.url)
	updated := updates(c)
	acknowledged := make(chan struct{}, 1)
	c.OnNotification(func(n mcp.JSONRPCNotification) {
		if n.Method == mcp.MethodNotificationSubscriptionsAcknowledged {
			acknowledged <- struct{}{}
		}
	})
	stop, err := c.ListenAsync(t.Context(), mcp.SubscriptionFilter{ResourceSubscriptions: []string{"thing://1"}}, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	<-acknowledged
	s.subscriptions.Updated("thing://2", "thing://1")
	if got := <-updated; got != "thing://1" {
		t.Errorf("got %s", got)
	}
}

// Also where nothing of what the client names can be subscribed to, so that the stream ends at once.
func TestEveryStreamBeginsWithItsAcknowledgement(t *testing.T) {
	s := serve(t, hosting.Options{})
	const listen = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	for range 50 {
		stream, text := ask(t, "POST", s.url+"/mcp", listen, "Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen")
		if text != "" || stream.StatusCode != 200 {
			t.Fatal(stream.StatusCode, text)
		}
		raw, err := io.ReadAll(stream.Body)
		if err != nil {
			t.Fatal(err)
		}
		acknowledged, ended := strings.Index(string(raw), mcp.MethodNotificationSubscriptionsAcknowledged), strings.Index(string(raw), `"result"`)
		if acknowledged < 0 || ended < acknowledged {
			t.Fatalf("%s", raw)
		}
	}
}
