// Package client has a client of worker controllers that knows none.
package client

import (
	"context"

	deploymentpb "go.temporal.io/api/deployment/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/server/common/namespace"
	"go.uber.org/fx"

	"go.temporal.io/auto-scaled-workers/wci/workflow/iface"
)

// Module provides the Client.
var Module = fx.Options(fx.Provide(func() Client { return none{} }))

// Client is what the server asks of worker controllers.
type Client interface {
	// DescribeWorkerControllerInstance returns the controller of a version of workers and its
	// conflict token, or serviceerror.NotFound.
	DescribeWorkerControllerInstance(ctx context.Context, entry *namespace.Namespace, version *deploymentpb.WorkerDeploymentVersion) (*iface.QueryDescribeWorkerControllerInstanceResponse, []byte, error)
	// UpdateWorkerControllerInstance creates or changes a controller.
	UpdateWorkerControllerInstance(ctx context.Context, entry *namespace.Namespace, version *deploymentpb.WorkerDeploymentVersion, conflictToken []byte, identity string, upsert map[string]iface.ScalingGroupSpecUpdate, remove []string) (*iface.UpdateWorkerControllerInstanceResponse, error)
	// ValidateWorkerControllerInstanceSpec says whether a change would be taken.
	ValidateWorkerControllerInstanceSpec(ctx context.Context, entry *namespace.Namespace, version *deploymentpb.WorkerDeploymentVersion, identity string, upsert map[string]iface.ScalingGroupSpecUpdate, remove []string) error
	// DeleteWorkerControllerInstance deletes a controller, if there is one.
	DeleteWorkerControllerInstance(ctx context.Context, entry *namespace.Namespace, version *deploymentpb.WorkerDeploymentVersion, identity string) error
}

// none knows no controllers.
type none struct{}

func (none) DescribeWorkerControllerInstance(context.Context, *namespace.Namespace, *deploymentpb.WorkerDeploymentVersion) (*iface.QueryDescribeWorkerControllerInstanceResponse, []byte, error) {
	return nil, nil, serviceerror.NewNotFound("this server starts no workers")
}

func (none) UpdateWorkerControllerInstance(context.Context, *namespace.Namespace, *deploymentpb.WorkerDeploymentVersion, []byte, string, map[string]iface.ScalingGroupSpecUpdate, []string) (*iface.UpdateWorkerControllerInstanceResponse, error) {
	return nil, errNone()
}

func (none) ValidateWorkerControllerInstanceSpec(context.Context, *namespace.Namespace, *deploymentpb.WorkerDeploymentVersion, string, map[string]iface.ScalingGroupSpecUpdate, []string) error {
	return errNone()
}

func (none) DeleteWorkerControllerInstance(context.Context, *namespace.Namespace, *deploymentpb.WorkerDeploymentVersion, string) error {
	return nil
}

func errNone() error {
	return serviceerror.NewInvalidArgument("this server starts no workers: run the agent with a Temporal cluster instead, and have the cluster start them")
}
