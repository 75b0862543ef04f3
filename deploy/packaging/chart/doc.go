// Package chart has the tests of the Helm chart: it is linted, rendered, and its manifests are
// read as Kubernetes reads them.
package chart
