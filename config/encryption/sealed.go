package encryption

import (
	"bytes"
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// readClear is read for a connection without keys. Nearly all that it receives is in clear, which shows in
// the bytes of a response without visiting each value that was decoded from them.
func readClear(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts []grpc.CallOption) (problem, err error) {
	look := &sniffer{CodecV2: encoding.GetCodecV2(proto.Name)}
	err = invoke(ctx, method, req, reply, cc, append(opts[:len(opts):len(opts)], grpc.ForceCodecV2(look))...)
	if err == nil && !look.sealed {
		return nil, nil
	}
	answered := func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return err }
	return (*Codec)(nil).read(ctx, method, req, reply, cc, answered, opts)
}

// The values of which read changes something have one of these in their bytes: the encoding of encrypted
// ones, and the message of failures whose own is in a payload (converter.EncodeCommonFailureAttributes).
var marks = [][]byte{[]byte(Encoding), []byte("Encoded failure")}

// longest is at least the length of the longest mark.
const longest = 32

// sniffer is the codec of one call, that sees whether a message has a mark.
type sniffer struct {
	encoding.CodecV2
	sealed bool
}

func (s *sniffer) Unmarshal(data mem.BufferSlice, v any) error {
	s.sealed = s.sealed || hasMark(data)
	return s.CodecV2.Unmarshal(data, v)
}

// hasMark reports whether a message has a mark, also where it comes in pieces.
func hasMark(data mem.BufferSlice) bool {
	var seam []byte
	for _, buffer := range data {
		piece := buffer.ReadOnlyData()
		seam = append(seam, piece[:min(longest, len(piece))]...)
		for _, mark := range marks {
			if bytes.Contains(piece, mark) || bytes.Contains(seam, mark) {
				return true
			}
		}
		if len(piece) > longest {
			seam = append(seam[:0], piece[len(piece)-longest:]...)
		}
		seam = seam[max(0, len(seam)-longest):]
	}
	return false
}
