package chart_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

const (
	root   = "../../.."
	folder = root + "/deploy/chart"
)

// Values for a server, without which the chart refuses to render; and all that can be turned on.
const (
	least = "temporal: {address: 'temporal.example.com:7233'}\n"
	all   = `
temporal: {address: "temporal.example.com:7233", namespace: agents, tlsSecret: temporal-mtls, privateCA: true, apiKeySecret: temporal-key}
keysSecret: agent-keys
imagePullSecrets: [{name: registry}]
data: {storageClass: shared}
image: {tag: v1.0.0}
worker: {deployment: shop, next: {tag: v1.1.0, replicas: 1}, autoscaling: {enabled: true, maxReplicas: 20}}
gateway: {ingress: {enabled: true, className: nginx, host: agents.example.com, tlsSecret: agents-tls, annotations: {a: b}}}
web:
  enabled: true
  secret: web-secrets
  config: {oauth2: {issuer: "https://login.example.com", client_id: chat, client_secret: "${WEB_CLIENT_SECRET}", redirect_url: "https://chat.example.com/callback", scopes: [openid]}}
  ingress: {enabled: true, className: nginx, host: chat.example.com, tlsSecret: chat-tls}
mcpFilesystem: {enabled: true}
mcpCommands: {enabled: true, files: {greeting.yaml: "name: greeting"}, config: {defaultProfile: all, profiles: {all: {tools: {files: [{path: /etc/agent/greeting.yaml}]}}}}}
mcpSql: {enabled: true, secret: shop-database, config: {databases: [{name: shop, engine: postgres, read_env: SHOP_READ}]}}
mcpWeb: {enabled: true, secret: web-keys, config: {search: [{provider: tavily}]}}
mcpOpenapi: {enabled: true, files: {api.yaml: "openapi: 3.0.3"}, config: {api: /etc/agent/api.yaml, auth: keys, auth_keys_file: /etc/agent-keys/keys}}
mcpPrompt: {enabled: true}
mcpDrive: {enabled: true, secret: drive-key, config: {google: {folder: 1AbCdEfGhIjKlMnOpQrStUvWxYz, login: true}}}
metrics: {enabled: true, from: [{namespaceSelector: {matchLabels: {name: monitoring}}}], serviceMonitor: {enabled: true, labels: {release: prometheus}}}
networkPolicy: {from: [{namespaceSelector: {matchLabels: {name: ingress}}}]}
agent: {allowed_hosts: [other.example.com], events: {redis: "redis://redis:6379"}}
`
)

func TestTheChartIsClean(t *testing.T) {
	for name, text := range map[string]string{"least": least, "all": all} {
		for _, m := range lint.All(folder, values(t, text), "agents", false).Messages {
			if m.Severity > 1 { // an icon is recommended
				t.Errorf("%s: %v", name, m)
			}
		}
	}
}

// kinds has an object for each kind that the chart renders. What is unknown there is refused.
var kinds = map[string]func() any{
	"ConfigMap":               func() any { return &corev1.ConfigMap{} },
	"Deployment":              func() any { return &appsv1.Deployment{} },
	"HorizontalPodAutoscaler": func() any { return &autoscalingv2.HorizontalPodAutoscaler{} },
	"Ingress":                 func() any { return &networkingv1.Ingress{} },
	"NetworkPolicy":           func() any { return &networkingv1.NetworkPolicy{} },
	"PersistentVolumeClaim":   func() any { return &corev1.PersistentVolumeClaim{} },
	"PodDisruptionBudget":     func() any { return &policyv1.PodDisruptionBudget{} },
	"Service":                 func() any { return &corev1.Service{} },
	"ServiceMonitor":          func() any { return &monitoringv1.ServiceMonitor{} },
	"StatefulSet":             func() any { return &appsv1.StatefulSet{} },
}

func TestManifestsHaveTheSchemaOfKubernetes(t *testing.T) {
	seen := map[string]bool{}
	for name, text := range map[string]string{"least": least, "all": all} {
		for _, document := range render(t, text) {
			kind := kindOf(t, document)
			object, known := kinds[kind]
			if !known {
				t.Errorf("%s: a %s", name, kind)
				continue
			}
			seen[kind] = true
			if err := yaml.UnmarshalStrict([]byte(document), object()); err != nil {
				t.Errorf("%s: %v\n%s", name, err, document)
			}
		}
	}
	if len(seen) != len(kinds) {
		t.Errorf("rendered only %v", seen)
	}
}

// The ConfigMap has a file that agents accept, and pods restart when it changes.
func TestTheFileOfTheAgent(t *testing.T) {
	schema := agentSchema(t)
	for name, text := range map[string]string{"least": least, "all": all} {
		file := agentFile(t, text)
		decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(decoded); err != nil {
			t.Errorf("%s: %v\n%s", name, err, file)
		}
		for _, want := range []string{`"shop-gateway"`, `"task_queue":"shop"`, `"http://shop-mcp-resources:8090/mcp"`} {
			if !strings.Contains(string(file), want) {
				t.Errorf("%s: no %s in %s", name, want, file)
			}
		}
	}
	if file := agentFile(t, all); !strings.Contains(string(file), `"agents.example.com","other.example.com"`) {
		t.Errorf("the names are not joined: %s", file)
	}
	if a, b := checksum(t, least), checksum(t, least+"agent: {prompt: other}\n"); a == b || a == "" {
		t.Errorf("with another file the pods have the same checksum %q", a)
	}
}

func TestPodsAreClosed(t *testing.T) {
	for _, document := range render(t, all) {
		var o struct {
			Metadata struct{ Name string }
			Spec     struct{ Template *corev1.PodTemplateSpec }
		}
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			t.Fatal(err)
		}
		if o.Spec.Template == nil {
			continue
		}
		pod := o.Spec.Template.Spec
		if !*pod.SecurityContext.RunAsNonRoot || *pod.AutomountServiceAccountToken {
			t.Errorf("%s may run as root, or has a token", o.Metadata.Name)
		}
		for _, c := range pod.Containers {
			s := c.SecurityContext
			if !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation || !slices.Contains(s.Capabilities.Drop, "ALL") {
				t.Errorf("%s: %s may write, or has capabilities", o.Metadata.Name, c.Name)
			}
		}
	}
}

// The ServiceMonitor finds the Service, the Service its pods, and they serve metrics at that port.
func TestPrometheusFindsThePods(t *testing.T) {
	var monitor monitoringv1.ServiceMonitor
	var service corev1.Service
	measured := map[string]bool{}
	for _, document := range render(t, all) {
		switch kindOf(t, document) {
		case "ServiceMonitor":
			decode(t, document, &monitor)
		case "Service":
			var s corev1.Service
			if decode(t, document, &s); s.Name == "shop-metrics" {
				service = s
			}
		}
	}
	if !contains(service.Labels, monitor.Spec.Selector.MatchLabels) || monitor.Spec.Endpoints[0].Port != service.Spec.Ports[0].Name {
		t.Errorf("%+v does not find %+v", monitor.Spec, service)
	}
	for _, document := range render(t, all) {
		var o struct {
			Metadata struct{ Name string }
			Spec     struct{ Template *corev1.PodTemplateSpec }
		}
		if decode(t, document, &o); o.Spec.Template == nil || !contains(o.Spec.Template.Labels, service.Spec.Selector) {
			continue
		}
		c := o.Spec.Template.Spec.Containers[0]
		measured[o.Metadata.Name] = slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == service.Spec.Ports[0].TargetPort.StrVal }) &&
			slices.Contains(c.Env, corev1.EnvVar{Name: "OTEL_METRICS_EXPORTER", Value: "prometheus"})
	}
	if want := map[string]bool{"shop-worker": true, "shop-worker-next": true, "shop-gateway": true}; !maps.Equal(measured, want) {
		t.Errorf("metrics are read from %v, want %v", measured, want)
	}
}

func decode(t *testing.T, document string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(document), into); err != nil {
		t.Fatalf("%v\n%s", err, document)
	}
}

// contains reports whether labels has all of a selector.
func contains(labels, selector map[string]string) bool {
	for name, value := range selector {
		if labels[name] != value {
			return false
		}
	}
	return len(selector) > 0
}

// Each tool server has its file with its address, and only workers reach it; one that asks who calls is left to it.
func TestToolServers(t *testing.T) {
	files, services, open := map[string]map[string]any{}, map[string]int32{}, []string{}
	var drive corev1.PodSpec
	for _, document := range render(t, all) {
		switch kindOf(t, document) {
		case "ConfigMap":
			var m corev1.ConfigMap
			decode(t, document, &m)
			if text, ok := m.Data[strings.TrimPrefix(m.Name, "shop-")+".yaml"]; ok {
				var file map[string]any
				decode(t, text, &file)
				files[strings.TrimPrefix(m.Name, "shop-")] = file
				if m.Name == "shop-mcp-openapi" && m.Data["api.yaml"] != "openapi: 3.0.3" {
					t.Errorf("its files are %v", m.Data)
				}
			}
		case "Deployment":
			var d appsv1.Deployment
			if decode(t, document, &d); d.Name == "shop-mcp-drive" {
				drive = d.Spec.Template.Spec
			}
		case "Service":
			var s corev1.Service
			decode(t, document, &s)
			services[strings.TrimPrefix(s.Name, "shop-")] = s.Spec.Ports[0].Port
		case "NetworkPolicy":
			var p networkingv1.NetworkPolicy
			if decode(t, document, &p); p.Name == "shop-tools" {
				open = p.Spec.PodSelector.MatchExpressions[0].Values
			}
		}
	}
	for name, port := range map[string]int32{"mcp-filesystem": 8091, "mcp-commands": 3001, "mcp-sql": 8092, "mcp-web": 8093, "mcp-openapi": 8094, "mcp-prompt": 8095, "mcp-drive": 8096} {
		f := files[name]
		hosts, _ := f["allowed_hosts"].([]any)
		if services[name] != port || f["port"] != float64(port) || f["host"] != "0.0.0.0" || !slices.Contains(hosts, any("shop-"+name)) || !slices.Contains(open, name) {
			t.Errorf("%s: port %d, file %v, policy for %v", name, services[name], f, open)
		}
	}
	if files["mcp-commands"]["transport"] != "http" || files["mcp-web"]["auth"] != "none" || files["mcp-openapi"]["auth"] != "keys" || files["mcp-prompt"]["directory"] != "/data/prompt" || files["mcp-drive"]["auth"] != nil { // Google's tokens are its auth
		t.Errorf("%v", files)
	}
	if !slices.ContainsFunc(drive.Volumes, func(v corev1.Volume) bool { return v.Secret != nil && v.Secret.SecretName == "drive-key" }) ||
		!slices.ContainsFunc(drive.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == "/etc/agent-keys" }) {
		t.Errorf("the secret of mcp-drive is no file: %+v", drive)
	}
}

func TestWhatMakesNoSenseIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"{}":                              "temporal.address is the host:port",
		"temporal: {address: 'http://x'}": "/temporal/address",
		"temporal: {adress: 'x:1'}":       "adress",
		least + "gateway: {ingress: {enabled: true}}":                      "gateway.ingress.host",
		least + "web: {enabled: true, ingress: {enabled: true}}":           "web.ingress.host",
		least + "web: {enabled: true, config: {oauth2: {}}}":               "web.secret is a Secret",
		least + "web: {enabled: true, repicas: 3}":                         "repicas",
		least + "networkPolicy: {enabled: false}\nmcpWeb: {enabled: true}": "mcp-web: config.auth says who may call",
		least + "metrics: {enabled: true}":                                 "metrics.from says who may read the metrics",
		least + "worker: {next: {tag: v2.0.0}}":                            "worker.deployment",
	} {
		if _, err := rendered(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", text, err, want)
		}
	}
}

// Two versions of the workers run side by side, each under its own name in one deployment of workers.
func TestTwoVersionsOfWorkers(t *testing.T) {
	got := map[string]string{}
	for _, document := range render(t, all) {
		var s appsv1.StatefulSet
		if kindOf(t, document) != "StatefulSet" {
			continue
		}
		decode(t, document, &s)
		c := s.Spec.Template.Spec.Containers[0]
		got[s.Name] = c.Image + " " + variable(c, "TEMPORAL_DEPLOYMENT_NAME") + " " + variable(c, "TEMPORAL_WORKER_BUILD_ID")
		if !contains(s.Spec.Template.Labels, s.Spec.Selector.MatchLabels) {
			t.Errorf("%s does not find its pods", s.Name)
		}
	}
	want := map[string]string{"shop-worker": "agent-stop-and-go/worker:v1.0.0 shop v1.0.0", "shop-worker-next": "agent-stop-and-go/worker:v1.1.0 shop v1.1.0"}
	if !maps.Equal(got, want) {
		t.Errorf("the workers are %v, want %v", got, want)
	}
	for _, document := range render(t, least) {
		if strings.Contains(document, "TEMPORAL_DEPLOYMENT_NAME") || strings.Contains(document, "worker-next") && kindOf(t, document) != "NetworkPolicy" {
			t.Errorf("without a deployment:\n%s", document)
		}
	}
}

func variable(c corev1.Container, name string) string {
	for _, v := range c.Env {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

// What runs more than once is not taken away all at once: every Deployment and StatefulSet has a
// budget that finds its pods, but the tool servers, of which there is one each.
func TestDisruptionsAreBounded(t *testing.T) {
	budgets, running := map[string]map[string]string{}, map[string]map[string]string{}
	for _, document := range render(t, all) {
		switch kindOf(t, document) {
		case "PodDisruptionBudget":
			var b policyv1.PodDisruptionBudget
			decode(t, document, &b)
			if b.Spec.MaxUnavailable.IntValue() != 1 {
				t.Errorf("%s: %v at a time", b.Name, b.Spec.MaxUnavailable)
			}
			budgets[b.Name] = b.Spec.Selector.MatchLabels
		case "Deployment", "StatefulSet":
			var o struct {
				Metadata struct{ Name string }
				Spec     struct{ Template corev1.PodTemplateSpec }
			}
			if decode(t, document, &o); !strings.Contains(o.Metadata.Name, "-mcp-") {
				running[o.Metadata.Name] = o.Spec.Template.Labels
			}
		}
	}
	if len(running) != 4 || len(budgets) != len(running) {
		t.Errorf("budgets %v for %v", budgets, running)
	}
	for name, labels := range running {
		if !contains(labels, budgets[name]) {
			t.Errorf("the budget of %s has the labels %v, its pods %v", name, budgets[name], labels)
		}
	}
}

// The values that the documents show are accepted, together with a server's address.
func TestValuesOfTheDocuments(t *testing.T) {
	page, err := os.ReadFile(root + "/deploy/KUBERNETES.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := yamlBlocks.FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 2 {
		t.Fatalf("only %d blocks of YAML", len(blocks))
	}
	for _, block := range blocks {
		text := block[1]
		if !strings.Contains(text, "\ntemporal:") && !strings.HasPrefix(text, "temporal:") {
			text = least + text
		}
		for _, document := range render(t, text) {
			if err := yaml.UnmarshalStrict([]byte(document), kinds[kindOf(t, document)]()); err != nil {
				t.Errorf("%v\n%s", err, document)
			}
		}
		file, err := jsonschema.UnmarshalJSON(bytes.NewReader(agentFile(t, text)))
		if err == nil {
			err = agentSchema(t).Validate(file)
		}
		if err != nil {
			t.Errorf("the file of the agent: %v\n%s", err, text)
		}
	}
}

var yamlBlocks = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```")

func values(t *testing.T, text string) map[string]any {
	t.Helper()
	v, err := chartutil.ReadValues([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// rendered returns the manifests by template, as helm template does.
func rendered(t *testing.T, text string) (map[string]string, error) {
	t.Helper()
	chart, err := loader.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	release := chartutil.ReleaseOptions{Name: "shop", Namespace: "agents", IsInstall: true}
	v, err := chartutil.ToRenderValues(chart, values(t, text), release, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(chart, v)
}

func render(t *testing.T, text string) (documents []string) {
	t.Helper()
	files, err := rendered(t, text)
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range files {
		if strings.HasSuffix(name, "NOTES.txt") {
			continue
		}
		for document := range strings.SplitSeq(file, "\n---") {
			if strings.Contains(document, "kind:") {
				documents = append(documents, document)
			}
		}
	}
	return documents
}

func kindOf(t *testing.T, document string) string {
	t.Helper()
	var o struct{ Kind string }
	if err := yaml.Unmarshal([]byte(document), &o); err != nil {
		t.Fatalf("%v\n%s", err, document)
	}
	return o.Kind
}

// agentFile is the file of the agent in the ConfigMap, as JSON.
func agentFile(t *testing.T, text string) []byte {
	t.Helper()
	for _, document := range render(t, text) {
		var m corev1.ConfigMap
		if err := yaml.Unmarshal([]byte(document), &m); err == nil && m.Kind == "ConfigMap" && m.Data["agent.yaml"] != "" {
			file, err := yaml.YAMLToJSONStrict([]byte(m.Data["agent.yaml"]))
			if err != nil {
				t.Fatal(err)
			}
			return file
		}
	}
	t.Fatal("no ConfigMap has agent.yaml")
	return nil
}

func checksum(t *testing.T, text string) string {
	t.Helper()
	for _, document := range render(t, text) {
		if kindOf(t, document) == "StatefulSet" {
			var s appsv1.StatefulSet
			if err := yaml.Unmarshal([]byte(document), &s); err != nil {
				t.Fatal(err)
			}
			return s.Spec.Template.Annotations["checksum/agent"]
		}
	}
	return ""
}

func agentSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile(root + "/config/agent.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("agent.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("agent.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}
