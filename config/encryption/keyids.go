package encryption

import (
	"context"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/proxy"
	"go.temporal.io/api/workflowservice/v1"
)

// KeyIDs returns the IDs of the keys with which the values of an event are encrypted. The event is as
// the server has it, from a connection without an Interceptor.
func KeyIDs(ctx context.Context, event *historypb.HistoryEvent) ([]string, error) {
	var ids []string
	reply := &workflowservice.GetWorkflowExecutionHistoryResponse{History: &historypb.History{Events: []*historypb.HistoryEvent{event}}}
	err := proxy.VisitPayloads(ctx, reply, proxy.VisitPayloadsOptions{
		SkipSearchAttributes: true,
		Visitor: func(_ *proxy.VisitPayloadsContext, all []*commonpb.Payload) ([]*commonpb.Payload, error) {
			for _, p := range all {
				if isEncrypted(p) {
					ids = append(ids, string(p.GetMetadata()[MetadataKeyID]))
				}
			}
			return all, nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read which keys an event needs: %w", err)
	}
	return ids, nil
}
