// Package iface has the types by which the server describes workers that it would start.
package iface

import (
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
)

// ValidationResultFailed says that a cloud has refused a specification.
const ValidationResultFailed ValidationResult = "failed"

type (
	// ComputeProviderType names a cloud, and ScalingAlgorithmType a way to follow a queue.
	ComputeProviderType  string
	ScalingAlgorithmType string
	ValidationResult     string

	// ComputeProviderSpec is a cloud and its settings.
	ComputeProviderSpec struct {
		ProviderType  ComputeProviderType `json:"provider_type,omitempty"`
		Config        *commonpb.Payload   `json:"config,omitempty"`
		NexusEndpoint string              `json:"nexus_endpoint,omitempty"`
	}

	// ScalingAlgorithmSpec is a way to follow a queue and its settings.
	ScalingAlgorithmSpec struct {
		ScalingAlgorithm ScalingAlgorithmType `json:"scaling_algorithm,omitempty"`
		Config           *commonpb.Payload    `json:"config,omitempty"`
	}

	// ScalingGroupSpec says where workers for some types of tasks run.
	ScalingGroupSpec struct {
		TaskTypes []enumspb.TaskQueueType `json:"task_types"`
		Compute   ComputeProviderSpec     `json:"compute"`
		Scaling   *ScalingAlgorithmSpec   `json:"scaling,omitempty"`
	}

	// ScalingGroupSpecUpdate changes the members of a group that the mask names.
	ScalingGroupSpecUpdate struct {
		Spec       ScalingGroupSpec `json:"spec"`
		UpdateMask []string         `json:"update_mask"`
	}

	// WorkerControllerInstanceSpec has the groups of one version of workers, by name.
	WorkerControllerInstanceSpec struct {
		ScalingGroupSpecs map[string]ScalingGroupSpec `json:"scaling_group_specs"`
	}

	// QueryDescribeWorkerControllerInstanceResponse describes a controller.
	QueryDescribeWorkerControllerInstanceResponse struct {
		Spec             *WorkerControllerInstanceSpec `json:"spec,omitempty"`
		ValidationStatus *ValidationStatus             `json:"validation_state,omitempty"`
	}

	// UpdateWorkerControllerInstanceResponse has the groups after a change.
	UpdateWorkerControllerInstanceResponse struct {
		Spec *WorkerControllerInstanceSpec `json:"spec,omitempty"`
	}

	// ValidationStatus is what a cloud last said of a specification.
	ValidationStatus struct {
		LastValidationTime time.Time        `json:"last_validation_time"`
		Status             ValidationResult `json:"status"`
		ErrMessage         string           `json:"err_message,omitempty"`
	}
)
