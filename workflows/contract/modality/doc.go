// Package modality says which files models take besides text: images, and documents in PDF.
//
//	modality.go  what a model is known to take: a new family of models is added to known
//	agent.go     what the models of an agent take, and why a file is refused
//
// The workers show models what they take. The gateway refuses PDFs that no model of the agent
// takes, before anything is stored.
package modality
