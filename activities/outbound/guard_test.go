package outbound_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"agent-stop-and-go/activities/outbound"
)

func TestTheGuardRefusesWhatIsNotPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"93.184.216.34:443": true, "[2606:4700::1111]:443": true,
		"127.0.0.1:80": false, "[::1]:80": false, "10.0.0.1:80": false, "169.254.169.254:80": false,
		"[fe80::1%eth0]:80": false, "0.0.0.0:80": false, "224.0.0.1:80": false, "[::ffff:127.0.0.1]:80": false,
		"/run/docker.sock": false, "": false,
	} {
		err := outbound.Guard(false)("tcp", address, nil)
		if (err == nil) != want || err != nil && !errors.Is(err, outbound.ErrPrivate) {
			t.Errorf("%q: %v", address, err)
		}
		if err := outbound.Guard(true)("tcp", address, nil); err != nil {
			t.Errorf("%q, though allowed: %v", address, err)
		}
	}
}

func TestANameThatLeadsHomeIsRefusedWhenItIsDialled(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	for allowed, want := range map[bool]bool{true: true, false: false} {
		client := &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{Control: outbound.Guard(allowed)}).DialContext}}
		response, err := client.Get("http://localhost:" + port)
		if err == nil {
			response.Body.Close()
		}
		if (err == nil) != want || err != nil && !errors.Is(err, outbound.ErrPrivate) {
			t.Errorf("private allowed %v: %v", allowed, err)
		}
		client.CloseIdleConnections()
	}
}
