{{- /* The secrets that a component needs, of those that are given. Takes the root and the component; answers JSON. */ -}}
{{- define "weir.secrets" -}}
{{- $database := list "DATABASE_URL" "PGPASSWORD" -}}
{{- $service := concat $database (list "WEIR_API_KEY_PEPPER" "WEIR_SECRETS_KEYS" "WEIR_TEMPORAL_KEYS" "TEMPORAL_API_KEY" "AWS_SECRET_ACCESS_KEY" "AWS_SESSION_TOKEN" "OTEL_EXPORTER_OTLP_HEADERS" "OTEL_EXPORTER_OTLP_TRACES_HEADERS" "OTEL_EXPORTER_OTLP_METRICS_HEADERS") -}}
{{- $models := list -}}
{{- range $name, $_ := .root.Values.secrets -}}
{{- if and (hasSuffix "_API_KEY" $name) (ne $name "TEMPORAL_API_KEY") -}}{{- $models = append $models $name -}}{{- end -}}
{{- end -}}
{{- $needed := dict
  "migration" $database
  "api" (concat $service $models)
  "worker" (concat $service $models)
  "webhook-worker" (append $service "WEIR_EGRESS_PROXY")
-}}
{{- $secrets := dict -}}
{{- range $name, $from := .root.Values.secrets -}}
{{- if has $name (get $needed $.component) -}}
{{- $_ := set $secrets $name $from -}}
{{- end -}}
{{- end -}}
{{- toJson $secrets -}}
{{- end -}}

{{- /*
A value of `config` as text: a whole number has no exponent, and `on` and `off`, which YAML reads as booleans, stay what they
are for variables of Weir. Takes the variable's `name` and its `value`.
*/ -}}
{{- define "weir.text" -}}
{{- if and (kindIs "float64" .value) (eq .value (floor .value)) }}{{ int64 .value -}}
{{- else if and (kindIs "bool" .value) (hasPrefix "WEIR_" .name) }}{{ ternary "on" "off" .value -}}
{{- else }}{{ .value }}{{ end -}}
{{- end -}}

{{- /* The variables of a container. Takes the root, the component and `config`, that of the component. */ -}}
{{- define "weir.env" -}}
{{- $root := .root -}}
{{- $component := .component -}}
{{- $config := dict -}}
{{- if and $root.Values.ingress.enabled (ne $component "migration") -}}
{{- $scheme := ternary "https" "http" (ne $root.Values.ingress.tlsSecret "") -}}
{{- $_ := set $config "WEIR_PUBLIC_URL" (printf "%s://%s" $scheme $root.Values.ingress.host) -}}
{{- $_ := set $config "WEIR_PROXIES" 1 -}}
{{- end -}}
{{- $config = mergeOverwrite $config (deepCopy $root.Values.config) (deepCopy (.config | default dict)) -}}
{{- if ne $component "migration" -}}
{{- if $root.Values.metrics.enabled -}}
{{- $_ := set $config "WEIR_METRICS_PORT" $root.Values.metrics.port -}}
{{- end -}}
{{- if ne $component "api" -}}
{{- $_ := set $config "WEIR_HEALTH_PORT" 8788 -}}
{{- $_ := set $config "WEIR_WORKER_ROLES" (ternary "flows" "webhooks" (eq $component "worker")) -}}
{{- end -}}
{{- end -}}
{{- range $name, $value := $config }}
{{- if and (hasPrefix "OTEL_" $name) (hasSuffix "_HEADERS" $name) }}
{{- fail (printf "%s is secret: put it into a Secret and name that in `secrets` instead of `config`." $name) }}
{{- end }}
{{- with include "weir.text" (dict "name" $name "value" $value) }}
- name: {{ $name }}
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- range $name, $_ := include "weir.secrets" (dict "root" $root "component" $component) | fromJson }}
- name: {{ $name }}_FILE
  value: /run/secrets/weir/{{ $name }}
{{- end }}
{{- end -}}
