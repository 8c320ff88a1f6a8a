{{- /*
The specification of a pod with one container. Takes `root`, `component`, `values` (of the component), `command`, and for a
Deployment `graceSeconds`, `ports` and `health` (the name of the port with /healthz and /readyz).
*/ -}}
{{- define "weir.pod" -}}
{{- $root := .root -}}
{{- $secrets := include "weir.secrets" . | fromJson -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with $root.Values.image.pullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: {{- .values.seccompProfile | default (dict "type" "RuntimeDefault") | toYaml | nindent 4 }}
{{- with .graceSeconds }}
terminationGracePeriodSeconds: {{ . }}
{{- end }}
containers:
  - name: {{ .component }}
    image: {{ include "weir.image" $root | quote }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    command: {{- toYaml .command | nindent 6 }}
    env: {{- include "weir.env" (dict "root" $root "component" .component "config" .values.config) | indent 6 }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: { drop: [ALL] }
    resources: {{- toYaml .values.resources | nindent 6 }}
    {{- with .ports }}
    ports:
      {{- range $name, $port := . }}
      - { name: {{ $name }}, containerPort: {{ $port }} }
      {{- end }}
    {{- end }}
    {{- with .health }}
    startupProbe:
      httpGet: { path: /healthz, port: {{ . }} }
      periodSeconds: 2
      timeoutSeconds: 3
      failureThreshold: 60
    livenessProbe:
      httpGet: { path: /healthz, port: {{ . }} }
      periodSeconds: 10
      timeoutSeconds: 3
      failureThreshold: 6
    readinessProbe:
      httpGet: { path: /readyz, port: {{ . }} }
      periodSeconds: 5
      timeoutSeconds: 3
      failureThreshold: 2
    {{- end }}
    {{- if eq .component "api" }}
    lifecycle:
      # Connections still come in until every proxy has heard that the pod is ending.
      preStop: { sleep: { seconds: 5 } }
    {{- end }}
    volumeMounts:
      - { name: secrets, mountPath: /run/secrets/weir, readOnly: true }
      - { name: tmp, mountPath: /tmp }
      {{- range $index, $mount := $root.Values.mounts }}
      - { name: mount-{{ $index }}, mountPath: {{ $mount.path }}, readOnly: true }
      {{- end }}
volumes:
  - name: secrets
    projected:
      defaultMode: 0440
      sources:
        {{- range $variable, $from := $secrets }}
        - secret:
            name: {{ $from.name }}
            items: [{ key: {{ $from.key | quote }}, path: {{ $variable }} }]
        {{- end }}
  - name: tmp
    emptyDir: { sizeLimit: 64Mi }
  {{- range $index, $mount := $root.Values.mounts }}
  - name: mount-{{ $index }}
    {{- if $mount.secret }}
    secret: { secretName: {{ $mount.secret }}, defaultMode: 0440 }
    {{- else }}
    configMap: { name: {{ $mount.configMap }} }
    {{- end }}
  {{- end }}
{{- with .values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- if and .health $root.Values.topologySpread.enabled }}
topologySpreadConstraints:
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: {{ $root.Values.topologySpread.whenUnsatisfiable }}
    labelSelector:
      matchLabels: {{- include "weir.selector" (dict "root" $root "component" $.component) | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
  {{- end }}
{{- end }}
{{- end -}}

{{- define "weir.image" -}}
{{- with .Values.image -}}
{{- .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end -}}
{{- end -}}
{{- end -}}

{{- /* What the chart has a Deployment for, each with its values and what is fixed. Answers JSON. */ -}}
{{- define "weir.components" -}}
{{- $worker := list "node" "--import" "./worker/disable-workflow-watchdog.ts" "worker/worker.ts" -}}
{{- dict
  "api" (dict "values" .Values.api "command" (list "node" "api/server.ts") "port" 8787 "graceSeconds" 50)
  "worker" (dict "values" .Values.worker "command" $worker "port" 8788 "graceSeconds" 80)
  "webhook-worker" (dict "values" .Values.webhookWorker "command" $worker "port" 8788 "graceSeconds" 80)
| toJson -}}
{{- end -}}
