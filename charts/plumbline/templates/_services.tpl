{{/* The request tree: whom each service calls, and which of the stores it opens. */}}
{{- define "plumbline.tree" -}}
gateway: {calls: [answer, embedding, ingest, ranking, search], stores: [catalog]}
answer: {calls: [embedding, search], stores: []}
ingest: {calls: [embedding, search], stores: [blobs, catalog, index]}
search: {calls: [embedding, ranking], stores: [catalog, index]}
ranking: {calls: [embedding], stores: []}
embedding: {calls: [], stores: [models]}
{{- end -}}

{{/* All services with their defaults filled in, as YAML. Takes the root. */}}
{{- define "plumbline.services" -}}
{{- range $name, $service := .Values.services }}
{{ $name }}: {{ mustMergeOverwrite (deepCopy $.Values.defaults) $service | toJson }}
{{- end }}
{{- end -}}

{{/* A value as a process reads it: Helm's own way of printing turns 1000000 into 1e+06. */}}
{{- define "plumbline.text" -}}
{{- if kindIs "string" . }}{{ . }}{{ else }}{{ toJson . }}{{ end -}}
{{- end -}}

{{/*
The environment of one service: where it listens, whom it calls, where its stores are, then its settings and secrets.
Takes (dict "root" "name" "service" "services").
*/}}
{{- define "plumbline.env" -}}
{{- $services := .services -}}
{{- $place := index (include "plumbline.tree" . | fromYaml) .name -}}
{{- $knobs := dict "HOST" "127.0.0.1" "PORT" .service.port -}}
{{- with .service.metricsPort }}{{ $_ := set $knobs "METRICS_PORT" . }}{{ end -}}
{{- range $place.calls -}}
{{- $port := include "plumbline.text" (index $services .).port -}}
{{- $_ := set $knobs (printf "%s_TARGET" (upper .)) (printf "127.0.0.1:%s" $port) -}}
{{- end -}}
{{- $stores := dict
  "catalog" (list "CATALOG_URL" "sqlite:////data/catalog/catalog.db")
  "index" (list "INDEX_FOLDER" "/data/index")
  "blobs" (list "BLOBS_URL" "/data/blobs")
  "models" (list "MODELS" (include "plumbline.modelsFolder" .root)) -}}
{{- range $place.stores -}}
{{- $variable := index $stores . -}}
{{- $_ := set $knobs (first $variable) (last $variable) -}}
{{- end -}}
{{- range $knob, $value := .service.settings }}{{ $_ := set $knobs (upper $knob) $value }}{{ end -}}
{{- $prefix := printf "PLUMBLINE_%s_" (upper .name) -}}
{{- range $knob, $value := $knobs }}
- name: {{ $prefix }}{{ $knob }}
  value: {{ include "plumbline.text" $value | quote }}
{{- end }}
{{- if eq .name "embedding" }}
# Torch sees the machine's cores, not the limit. Without a limit this is the number of the node's cores.
- name: {{ $prefix }}THREADS
  valueFrom:
    resourceFieldRef: {resource: limits.cpu, divisor: "1"}
{{- end }}
{{- range $knob, $reference := .service.secrets }}
- name: {{ $prefix }}{{ upper $knob }}
  valueFrom:
    secretKeyRef: {{- toYaml $reference | nindent 6 }}
{{- end }}
{{- end -}}

{{/* The folder of model folders, as the embedding service sees it. Takes the root. */}}
{{- define "plumbline.modelsFolder" -}}
{{- if .Values.weights.claim }}/data/models{{ else }}/data/models/plumbline/models{{ end -}}
{{- end -}}
