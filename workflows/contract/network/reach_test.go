package network_test

import (
	"net/netip"
	"strings"
	"testing"

	"agent-stop-and-go/workflows/contract/network"
)

func TestWhichURLsMayBeWebhooks(t *testing.T) {
	for raw, want := range map[string]string{
		"https://example.com/hook?x=1":   "",
		"http://example.com:8080":        "",
		"http://93.184.216.34/hook":      "",
		"https://[2606:2800:220:1::1]/":  "",
		"":                               "http://",
		"example.com/hook":               "http://",
		"ftp://example.com/":             "http://",
		"https://":                       "no host",
		"https://:443/hook":              "no host",
		"https://user:pw@example.com":    "user",
		"https://exa mple.com":           "malformed",
		"https://example.com/\n":         "malformed",
		"http://localhost:8888/webhook":  "not public",
		"http://LOCALHOST./":             "not public",
		"http://api.localhost/":          "not public",
		"http://127.0.0.1/":              "not public",
		"http://10.1.2.3/":               "not public",
		"http://169.254.169.254/latest":  "not public",
		"http://[::1]:80/":               "not public",
		"http://[::ffff:192.168.0.1]/":   "not public",
		"http://[fe80::1%25eth0]/":       "not public",
		"http://[64:ff9b::10.0.0.1]/":    "not public",
		"http://a.b/" + long(2048):       "more than 2048",
		"https://example.com/?" + "%zz=": "",
	} {
		err := network.CheckWebhook(raw, network.ReachPublic)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, expected %q", raw, err, want)
		}
	}
}

func long(n int) string { return strings.Repeat("x", n) }

func TestPrivateWebhooksMayBeAllowed(t *testing.T) {
	for raw, ok := range map[string]bool{
		"http://localhost:8888/webhook": true, "http://127.0.0.1/": true, "http://10.1.2.3/": true,
		"http://user@localhost/": false, "file:///etc/passwd": false,
	} {
		if err := network.CheckWebhook(raw, network.ReachPrivate); (err == nil) != ok {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestWhichAddressesArePublic(t *testing.T) {
	for text, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1111": true, "::ffff:8.8.8.8": true, "172.32.0.1": true,
		"0.0.0.0": false, "0.1.2.3": false, "::": false, "127.8.9.1": false, "::1": false, "::ffff:127.0.0.1": false,
		"10.0.0.1": false, "172.16.0.1": false, "192.168.1.1": false, "fd00::1": false, "fec0::1": false,
		"169.254.169.254": false, "fe80::1": false, "fe80::1%eth0": false, "100.64.0.1": false,
		"224.0.0.1": false, "ff02::1": false, "ff0e::1": false, "255.255.255.255": false, "240.0.0.1": false,
		"::7f00:1": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false, "2002:808:808::": false,
		"192.88.99.1": false, "3fff::1": false, "4000::1": false, "5f00::1": false, "64:ff9b::808:808": true,
		"198.18.0.1": false, "::ffff:10.0.0.1": false, "fc00::1": false, "fd00:ec2::254": false, "64:ff9b:1::1": false, "2001:db8::1": false,
		"2001::1": false,
	} {
		if got := network.PublicAddress(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: public %v", text, got)
		}
	}
	if network.PublicAddress(netip.Addr{}) {
		t.Error("no address is public")
	}
}
