{{- define "agent.name" -}}
{{- default .Release.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* labels of everything; selectors have them with the component */}}
{{- define "agent.labels" -}}
app.kubernetes.io/name: agent-stop-and-go
app.kubernetes.io/instance: {{ include "agent.name" . }}
{{- end -}}

{{- define "agent.image" -}}
{{ .root.Values.image.registry }}/{{ .name }}:{{ coalesce .tag .root.Values.image.tag .root.Chart.AppVersion }}
{{- end -}}

{{/* the file of the agent: what values.yaml has, and what the chart knows */}}
{{- define "agent.file" -}}
{{- $name := include "agent.name" . -}}
{{- $file := deepCopy .Values.agent -}}
{{- $hosts := list (printf "%s-gateway" $name) (printf "%s-gateway.%s.svc" $name .Release.Namespace) (printf "%s-gateway.%s.svc.cluster.local" $name .Release.Namespace) -}}
{{- if .Values.gateway.ingress.host }}{{ $hosts = append $hosts .Values.gateway.ingress.host }}{{ end -}}
{{- $_ := set $file "allowed_hosts" (concat $hosts (default list $file.allowed_hosts) | uniq) -}}
{{- $added := dict "host" "0.0.0.0" "port" 8080 "data_dir" "/data" "blobs" (dict "url" "file:///data/blobs") "temporal" (dict "task_queue" $name) -}}
{{- $file = merge $file $added -}}
{{- if and .Values.mcpResources.enabled (not (hasKey .Values.agent "mcp_servers")) -}}
{{- $_ := set $file "mcp_servers" (list (dict "name" "resources" "url" (printf "http://%s-mcp-resources:8090/mcp" $name))) -}}
{{- end -}}
{{- toYaml $file -}}
{{- end -}}

{{/* what all pods have in common */}}
{{- define "agent.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "agent.container" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end -}}

{{/* how workers and gateways reach Temporal, and their secrets */}}
{{- define "agent.environment" -}}
envFrom:
  - secretRef: {name: {{ .Values.secret }}}
env:
  - {name: LOG_FORMAT, value: json}
  - {name: TEMPORAL_ADDRESS, value: {{ required "temporal.address is the host:port of an existing Temporal server" .Values.temporal.address | quote }}}
  - {name: TEMPORAL_NAMESPACE, value: {{ .Values.temporal.namespace | quote }}}
{{- if .Values.temporal.apiKeySecret }}
  - name: TEMPORAL_API_KEY
    valueFrom: {secretKeyRef: {name: {{ .Values.temporal.apiKeySecret }}, key: api-key}}
{{- end }}
{{- if .Values.temporal.tlsSecret }}
  - {name: TEMPORAL_TLS, value: "true"}
  - {name: TEMPORAL_TLS_CLIENT_CERT_PATH, value: /etc/temporal-tls/tls.crt}
  - {name: TEMPORAL_TLS_CLIENT_KEY_PATH, value: /etc/temporal-tls/tls.key}
  {{- if .Values.temporal.privateCA }}
  - {name: TEMPORAL_TLS_SERVER_CA_CERT_PATH, value: /etc/temporal-tls/ca.crt}
  {{- end }}
{{- end }}
{{- include "agent.metrics" . }}
{{- end -}}

{{/* pods whose metrics are read: their label, their settings and their port */}}
{{- define "agent.measured" -}}
{{- if .Values.metrics.enabled }}
agent-stop-and-go/metrics: "true"
{{- end }}
{{- end -}}

{{- define "agent.metrics" -}}
{{- if .Values.metrics.enabled }}
  - {name: OTEL_METRICS_EXPORTER, value: prometheus}
  - {name: OTEL_EXPORTER_PROMETHEUS_HOST, value: 0.0.0.0}
  - {name: OTEL_EXPORTER_PROMETHEUS_PORT, value: {{ .Values.metrics.port | quote }}}
{{- end }}
{{- end -}}

{{- define "agent.mounts" -}}
- {name: file, mountPath: /etc/agent, readOnly: true}
- {name: data, mountPath: /data}
- {name: tmp, mountPath: /tmp}
{{- if .Values.temporal.tlsSecret }}
- {name: temporal-tls, mountPath: /etc/temporal-tls, readOnly: true}
{{- end }}
{{- if .Values.keysSecret }}
- {name: keys, mountPath: /etc/agent-keys, readOnly: true}
{{- end }}
{{- end -}}

{{- define "agent.volumes" -}}
- name: file
  configMap: {name: {{ include "agent.name" . }}}
- name: data
  persistentVolumeClaim: {claimName: {{ default (printf "%s-data" (include "agent.name" .)) .Values.data.existingClaim }}}
- name: tmp
  emptyDir: {}
{{- if .Values.temporal.tlsSecret }}
- name: temporal-tls
  secret: {secretName: {{ .Values.temporal.tlsSecret }}}
{{- end }}
{{- if .Values.keysSecret }}
- name: keys
  secret: {secretName: {{ .Values.keysSecret }}}
{{- end }}
{{- end -}}

{{/* a new file restarts the pods */}}
{{- define "agent.checksum" -}}
checksum/agent: {{ include "agent.file" . | sha256sum }}
{{- end -}}
