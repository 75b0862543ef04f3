package encryption

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	failurepb "go.temporal.io/api/failure/v1"
	"go.temporal.io/api/proxy"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Interceptor returns the interceptor that encrypts what a connection sends and decrypts what it
// receives. A connection without keys needs it too, see the package documentation.
func (c *Codec) Interceptor(logger *slog.Logger) grpc.UnaryClientInterceptor {
	back := &returns{logger: logger}
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		req, err := c.request(ctx, req)
		if err != nil {
			return err
		}
		read := c.read
		if c == nil {
			read = readClear
		}
		problem, err := read(ctx, method, req, reply, cc, invoke, opts)
		switch {
		case err != nil, problem == nil:
			return err
		case back.give(ctx, call{req, reply, cc, invoke}, problem), isList(method) && !hidesMemo(reply):
			return nil
		}
		return status.Error(codes.FailedPrecondition, problem.Error())
	}
}

// isList reports whether a response is about many workflows, or a description. What cannot be
// decrypted in it hides nothing else.
func isList(method string) bool {
	name := method[strings.LastIndex(method, "/")+1:]
	return strings.HasPrefix(name, "List") || strings.HasPrefix(name, "Scan") || strings.HasPrefix(name, "Describe")
}

// hidesMemo reports whether a response describes one workflow whose memo could not be decrypted. To
// its readers a missing field means a default, such as that everybody may approve.
func hidesMemo(reply any) bool {
	d, ok := reply.(*workflowservice.DescribeWorkflowExecutionResponse)
	if !ok {
		return false
	}
	for _, p := range d.GetWorkflowExecutionInfo().GetMemo().GetFields() {
		if isEncrypted(p) {
			return true
		}
	}
	return false
}

// request returns an encrypted copy of a request. The SDK sends the same one again after errors.
func (c *Codec) request(ctx context.Context, req any) (any, error) {
	message, ok := req.(proto.Message)
	if c == nil || !ok {
		return req, nil
	}
	message = proto.Clone(message)
	if err := proxy.VisitFailures(ctx, message, proxy.VisitFailuresOptions{Visitor: encodeFailure}); err != nil {
		return nil, fmt.Errorf("encrypt a request: %w", err)
	}
	err := proxy.VisitPayloads(ctx, message, proxy.VisitPayloadsOptions{
		SkipSearchAttributes: true,
		Visitor: func(_ *proxy.VisitPayloadsContext, p []*commonpb.Payload) ([]*commonpb.Payload, error) {
			return c.Encode(p)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("encrypt a request: %w", err)
	}
	return message, nil
}

// read makes a call and decrypts its response or the details of its error. problem is why
// something could not be decrypted; that is left as it is.
func (c *Codec) read(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts []grpc.CallOption) (problem, err error) {
	payloads, err := proxy.NewPayloadVisitorInterceptor(proxy.PayloadVisitorInterceptorOptions{Inbound: &proxy.VisitPayloadsOptions{
		SkipSearchAttributes: true,
		Visitor: func(_ *proxy.VisitPayloadsContext, p []*commonpb.Payload) ([]*commonpb.Payload, error) {
			out, err := c.Decode(p)
			if err != nil {
				problem = err
				return lenient{c}.Decode(p)
			}
			return out, nil
		},
	}})
	if err != nil {
		return nil, err
	}
	failures, err := proxy.NewFailureVisitorInterceptor(proxy.FailureVisitorInterceptorOptions{
		Inbound: &proxy.VisitFailuresOptions{Visitor: decodeFailure},
	})
	if err != nil {
		return nil, err
	}
	decrypting := func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, opts ...grpc.CallOption) error {
		return payloads(ctx, method, req, reply, cc, invoke, opts...)
	}
	err = failures(ctx, method, req, reply, cc, decrypting, opts...)
	return problem, err
}

// encodeFailure moves the message and the stack trace of a failure to a payload.
func encodeFailure(_ *proxy.VisitFailuresContext, f *failurepb.Failure) error {
	return converter.EncodeCommonFailureAttributes(converter.GetDefaultDataConverter(), f)
}

// decodeFailure undoes encodeFailure.
func decodeFailure(_ *proxy.VisitFailuresContext, f *failurepb.Failure) error {
	if f.GetEncodedAttributes() != nil && !isEncrypted(f.GetEncodedAttributes()) {
		converter.DecodeCommonFailureAttributes(converter.GetDefaultDataConverter(), f)
		f.EncodedAttributes = nil
	}
	return nil
}

// call is a call of the server that has been answered.
type call struct {
	req, reply any
	conn       *grpc.ClientConn
	invoke     grpc.UnaryInvoker
}

func (c call) do(ctx context.Context, method string, req, reply any) error {
	return c.invoke(ctx, "/"+workflowservice.WorkflowService_ServiceDesc.ServiceName+"/"+method, req, reply, c.conn)
}
