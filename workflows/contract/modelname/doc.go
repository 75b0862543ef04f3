// Package modelname parses the names of models: Parse returns the provider of a name and the
// provider's own name of the model. A model family without a provider in its name is added to
// families.
package modelname
