package deploy_test

import (
	"net/netip"
	"os"
	"regexp"
	"testing"

	"agent-stop-and-go/mcpservers/hosting/reach"
	"agent-stop-and-go/workflows/contract/network"
)

var literal = regexp.MustCompile(`"([0-9a-f]*[:.][0-9a-f:.]+(?:/\d+)?)"`)

// What agents and tool servers call the Internet is in two packages, as neither may import the other. They
// agree at the borders of every network that either of them names, also where IPv6 embeds these addresses.
func TestAgentsAndToolServersMeanTheSameInternet(t *testing.T) {
	var named int
	for _, file := range []string{"../mcpservers/hosting/reach/address.go", "../workflows/contract/network/reach.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range literal.FindAllSubmatch(text, -1) {
			n, err := network.Parse(string(match[1]))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			named++
			first, last := n.Addr(), lastOf(n)
			for _, a := range []netip.Addr{first.Prev(), first, first.Next(), last.Prev(), last, last.Next()} {
				sameInternet(t, a)
			}
		}
	}
	if named < 30 {
		t.Errorf("%d networks are named", named)
	}
	for i := range 1 << 16 {
		high, low := byte(i>>8), byte(i)
		sameInternet(t, netip.AddrFrom4([4]byte{high, low, 0, 1}))
		sameInternet(t, netip.AddrFrom16([16]byte{high, low, 15: 1}))
	}
}

func sameInternet(t *testing.T, a netip.Addr) {
	t.Helper()
	all := []netip.Addr{a}
	if a.Is4() {
		b := a.As4()
		for _, prefix := range []string{"64:ff9b::", "::ffff:0:0", "::"} {
			embedding := netip.MustParseAddr(prefix).As16()
			copy(embedding[12:], b[:])
			all = append(all, netip.AddrFrom16(embedding))
		}
		all = append(all, netip.AddrFrom16([16]byte{0x20, 0x02, b[0], b[1], b[2], b[3], 15: 1}))
	}
	for _, a := range all {
		if agents, servers := network.ReachPublic.Allows(a), reach.Public(a); agents != servers {
			t.Errorf("%s: for agents %t, for tool servers %t", a, agents, servers)
		}
	}
}

func lastOf(n netip.Prefix) netip.Addr {
	b := n.Addr().AsSlice()
	for bit := n.Bits(); bit < len(b)*8; bit++ {
		b[bit/8] |= 0x80 >> (bit % 8)
	}
	last, _ := netip.AddrFromSlice(b)
	return last
}
