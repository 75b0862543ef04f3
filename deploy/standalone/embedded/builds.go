package embedded

import (
	"context"
	"maps"
	"sync/atomic"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/grpc"
)

// buildIDs is the search attribute with the builds of the workers that ran a workflow. The server
// adds to it when a workflow task completes, and then writes the workflow's row in the lists again.
const buildIDs = "BuildIds"

// TellBuild returns an interceptor for the connection of a process whose worker is the only one. A
// workflow that begins over it has the build of that worker from the start, so that the server has
// nothing to add: a row of the lists less for each workflow. Another build that runs it later is added
// as ever. Workers of a deployment are left alone.
func TellBuild() grpc.UnaryClientInterceptor {
	var build atomic.Pointer[commonpb.Payload]
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		switch r := req.(type) {
		case *workflowservice.PollWorkflowTaskQueueRequest:
			if name := buildOf(r); name != "" && build.Load() == nil {
				build.Store(unversioned(name))
			}
		case *workflowservice.StartWorkflowExecutionRequest:
			r.SearchAttributes = withBuild(r.GetSearchAttributes(), build.Load())
		case *workflowservice.RespondWorkflowTaskCompletedRequest:
			for _, c := range r.GetCommands() {
				if child := c.GetStartChildWorkflowExecutionCommandAttributes(); child != nil {
					child.SearchAttributes = withBuild(child.GetSearchAttributes(), build.Load())
				}
			}
		}
		return invoke(ctx, method, req, reply, cc, opts...)
	}
}

// buildOf returns the build of a worker without versions, or "".
func buildOf(r *workflowservice.PollWorkflowTaskQueueRequest) string {
	//lint:ignore SA1019 a worker without versions tells its build nowhere else
	worker := r.GetWorkerVersionCapabilities()
	if worker.GetUseVersioning() || r.GetDeploymentOptions().GetDeploymentName() != "" {
		return ""
	}
	return worker.GetBuildId()
}

// unversioned returns what the server gives a workflow that a worker without versioning ran, or nil.
func unversioned(build string) *commonpb.Payload {
	p, err := converter.GetDefaultDataConverter().ToPayload([]string{"unversioned", "unversioned:" + build})
	if err != nil { // texts can be encoded
		return nil
	}
	p.Metadata["type"] = []byte("KeywordList")
	return p
}

func withBuild(a *commonpb.SearchAttributes, build *commonpb.Payload) *commonpb.SearchAttributes {
	if _, given := a.GetIndexedFields()[buildIDs]; build == nil || given {
		return a
	}
	fields := maps.Clone(a.GetIndexedFields())
	if fields == nil {
		fields = map[string]*commonpb.Payload{}
	}
	fields[buildIDs] = build
	return &commonpb.SearchAttributes{IndexedFields: fields}
}
