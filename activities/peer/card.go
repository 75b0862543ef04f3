package peer

import (
	"cmp"
	"encoding/json"
	"strings"

	"agent-stop-and-go/workflows/contract"
)

// card has the needed fields of an agent card of any version. Decoding is lenient: invalid
// values in other fields are ignored.
type card struct {
	Name                string `json:"name"`
	URL                 string `json:"url"`
	PreferredTransport  string `json:"preferredTransport"`
	ProtocolVersion     string `json:"protocolVersion"`
	Version             string `json:"version"`
	SupportedInterfaces []struct {
		URL             string `json:"url"`
		ProtocolBinding string `json:"protocolBinding"`
		ProtocolVersion string `json:"protocolVersion"`
		Tenant          string `json:"tenant"`
	} `json:"supportedInterfaces"`
	AdditionalInterfaces []struct {
		URL       string `json:"url"`
		Transport string `json:"transport"`
	} `json:"additionalInterfaces"`
	Capabilities *struct {
		Streaming  bool `json:"streaming"`
		Extensions []struct {
			URI string `json:"uri"`
		} `json:"extensions"`
	} `json:"capabilities"`
	Skills []skill `json:"skills"`
}

type skill struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// endpoint is an interface of an agent.
type endpoint struct {
	protocol  Protocol
	url       string
	tenant    string
	streaming bool
	hitl      bool // it asks for approvals with the extension of hitl.go
	remembers bool // it declares that it deduplicates messages
}

// parseCard parses a card; ok is false if data is not a card.
func parseCard(data []byte) (*card, bool) {
	var c card
	if json.Unmarshal(data, &c) != nil || c.Name == "" {
		return nil, false
	}
	return &c, c.URL != "" || len(c.SupportedInterfaces) > 0 || len(c.Skills) > 0 || c.versioned()
}

// versioned reports whether the card is of a version of A2A. Cards of the old dialect have only
// name, description, url and skills.
func (c *card) versioned() bool {
	return len(c.SupportedInterfaces) > 0 || c.ProtocolVersion != "" || c.PreferredTransport != "" ||
		c.Version != "" || c.Capabilities != nil
}

// endpoints returns the JSON-RPC interfaces of a card, in its order. 1.0 has them in
// supportedInterfaces; 0.3 in url, which is JSON-RPC unless stated otherwise, and
// additionalInterfaces.
func (c *card) endpoints() []endpoint {
	var out []endpoint
	add := func(url, binding, version, tenant string) {
		p, ok := protocolOf(version)
		if ok && strings.EqualFold(cmp.Or(binding, jsonRPC), jsonRPC) {
			out = append(out, endpoint{protocol: p, url: url, tenant: tenant, streaming: c.streaming(),
				// agents of this project use their own form instead, which has more fields
				hitl:      c.announces(hitlExtension) && !c.announces(contract.ApprovalParts),
				remembers: c.announces(contract.IdempotentMessages)})
		}
	}
	for _, i := range c.SupportedInterfaces {
		add(i.URL, i.ProtocolBinding, cmp.Or(i.ProtocolVersion, string(V1)), i.Tenant)
	}
	if len(c.SupportedInterfaces) > 0 {
		return out
	}
	version := cmp.Or(c.ProtocolVersion, string(V03))
	add(c.URL, c.PreferredTransport, version, "")
	for _, i := range c.AdditionalInterfaces {
		add(i.URL, i.Transport, version, "")
	}
	return out
}

const jsonRPC = "JSONRPC"

// protocolOf parses a version number: patch versions are ignored, and 0.2 has the messages of
// 0.3.
func protocolOf(version string) (Protocol, bool) {
	switch major, minor, _ := strings.Cut(version, "."); {
	case major == "1":
		return V1, true
	case major == "0" && (minor == "2" || minor == "3" || strings.HasPrefix(minor, "2.") || strings.HasPrefix(minor, "3.")):
		return V03, true
	}
	return "", false
}

func (c *card) streaming() bool { return c.Capabilities != nil && c.Capabilities.Streaming }

func (c *card) announces(extension string) bool {
	if c.Capabilities != nil {
		for _, e := range c.Capabilities.Extensions {
			if e.URI == extension {
				return true
			}
		}
	}
	return false
}
