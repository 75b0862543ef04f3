package contract_test

import (
	"testing"

	"agent-stop-and-go/workflows/contract"
)

func TestOnlyLocalProvidersNeedNoKey(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range contract.Providers() {
		v := p.KeyVariable()
		if free := p == contract.ProviderOllama || p == contract.ProviderDemo; free != (v == "") {
			t.Errorf("%s: key variable %q", p, v)
		}
		if v != "" && seen[v] {
			t.Errorf("%s shares its key variable with another provider", p)
		}
		seen[v] = true
	}
}
