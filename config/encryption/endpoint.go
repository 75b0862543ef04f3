package encryption

import (
	commonpb "go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// EncodeJSON encrypts {"payloads":[…]}, as the protocol of remote codecs has them.
func (c *Codec) EncodeJSON(body []byte) ([]byte, error) { return convert(body, c.Encode) }

// DecodeJSON undoes EncodeJSON. What it cannot decrypt it returns as it is.
func (c *Codec) DecodeJSON(body []byte) ([]byte, error) { return convert(body, lenient{c}.Decode) }

func convert(body []byte, with func([]*commonpb.Payload) ([]*commonpb.Payload, error)) ([]byte, error) {
	var all commonpb.Payloads
	if err := protojson.Unmarshal(body, &all); err != nil {
		return nil, err
	}
	out, err := with(all.GetPayloads())
	if err != nil {
		return nil, err
	}
	return protojson.Marshal(&commonpb.Payloads{Payloads: out})
}
