package deletion

import (
	"context"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/proxy"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// addHistories adds the sums in all histories of the namespace.
func (s sums) addHistories(ctx context.Context, from server) error {
	for e, err := range from.list(ctx, "") {
		if err == nil {
			err = s.addMessage(ctx, e)
		}
		if err == nil {
			err = s.addHistory(ctx, from, e.GetExecution())
		}
		if err != nil {
			return fmt.Errorf("read the history of %s: %w", e.GetExecution().GetWorkflowId(), err)
		}
	}
	return nil
}

// addHistory adds the sums in the history of a run. One that was deleted meanwhile has none.
func (s sums) addHistory(ctx context.Context, from server, e *commonpb.WorkflowExecution) error {
	req := &workflowservice.GetWorkflowExecutionHistoryRequest{
		Namespace: from.namespace, Execution: e, HistoryEventFilterType: enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT,
	}
	for {
		page, err := from.client.WorkflowService().GetWorkflowExecutionHistory(ctx, req)
		if isNotFound(err) {
			return nil
		}
		if err == nil {
			err = s.addMessage(ctx, page.GetHistory())
		}
		if err != nil {
			return err
		}
		if req.NextPageToken = page.GetNextPageToken(); len(req.NextPageToken) == 0 {
			return nil
		}
	}
}

// readable are the encodings in which a reference can be seen.
var readable = map[string]bool{
	converter.MetadataEncodingJSON: true, converter.MetadataEncodingProtoJSON: true, converter.MetadataEncodingProto: true,
	converter.MetadataEncodingNil: true, converter.MetadataEncodingBinary: true,
}

// addMessage adds the sums in a message and its payloads. It fails if one of them cannot be
// read, because it is encrypted or compressed: then nobody knows what is in use.
func (s sums) addMessage(ctx context.Context, m proto.Message) error {
	err := proxy.VisitPayloads(ctx, m, proxy.VisitPayloadsOptions{
		SkipSearchAttributes: true,
		Visitor: func(_ *proxy.VisitPayloadsContext, payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
			for _, p := range payloads {
				encoding := string(p.GetMetadata()[converter.MetadataEncoding])
				if len(p.GetData()) > 0 && !readable[encoding] {
					return nil, fmt.Errorf("it is encoded as %q, so what it refers to cannot be read, and no value may be removed", encoding)
				}
			}
			return payloads, nil
		},
	})
	if err != nil {
		return err
	}
	data, err := proto.Marshal(m)
	s.add(data)
	return err
}
