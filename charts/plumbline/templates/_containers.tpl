{{/* The container of one service. Takes (dict "root" "name" "service" "services"). */}}
{{- define "plumbline.container" -}}
{{- $protocol := eq .name "gateway" | ternary "http" "grpc" -}}
{{- $port := include "plumbline.text" .service.port -}}
{{- $claim := .root.Values.weights.claim -}}
name: {{ .name }}
image: {{ include "plumbline.image" . | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
env:
  {{- include "plumbline.env" . | trim | nindent 2 }}
startupProbe: {{- include "plumbline.probe" (list "alive" $protocol $port .service.probes.startup) | nindent 2 }}
readinessProbe: {{- include "plumbline.probe" (list "ready" $protocol $port .service.probes.readiness) | nindent 2 }}
livenessProbe: {{- include "plumbline.probe" (list "alive" $protocol $port .service.probes.liveness) | nindent 2 }}
resources: {{- toYaml .service.resources | nindent 2 }}
securityContext: {{- include "plumbline.security" . | nindent 2 }}
volumeMounts:
  - {name: probe, mountPath: /etc/plumbline, readOnly: true}
  - {name: tmp, mountPath: /tmp, subPath: {{ .name }}}
  {{- range (index (include "plumbline.tree" . | fromYaml) .name).stores }}
  {{- if ne . "models" }}
  - {name: data, mountPath: /data/{{ . }}, subPath: {{ . }}}
  {{- else if $claim }}
  - {name: weights, mountPath: /data/models, readOnly: true}
  {{- else }}
  - {name: data, mountPath: /data/models, subPath: models, readOnly: true}
  {{- end }}
  {{- end }}
{{- end -}}

{{/* The init container that fetches the weights. Takes (dict "root" "service"), with the embedding service. */}}
{{- define "plumbline.fetchWeights" -}}
name: weights
image: {{ include "plumbline.image" (merge (dict "name" "embedding") .) | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
command: [python, -m, services.local, weights]
env:
  - {name: MODEL, value: {{ quote .service.settings.model }}}
  - {name: XDG_CACHE_HOME, value: /data/models}
  # The hub's client keeps notes of its own, which need not last.
  - {name: HF_HOME, value: /tmp/hub}
resources: {{- toYaml .root.Values.weights.resources | nindent 2 }}
securityContext: {{- include "plumbline.security" . | nindent 2 }}
volumeMounts:
  - {name: tmp, mountPath: /tmp, subPath: weights}
  - {name: data, mountPath: /data/models, subPath: models}
{{- end -}}

{{/* An exec probe. Takes (list question protocol port periods). */}}
{{- define "plumbline.probe" -}}
exec:
  command: [python, /etc/plumbline/probe.py, {{ index . 0 }}, {{ index . 1 }}, {{ index . 2 | quote }}]
{{ toYaml (index . 3) }}
{{- end -}}

{{/* What no container here may do. */}}
{{- define "plumbline.security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* Seconds from SIGTERM to SIGKILL: the longest drain and grace of all services, and 5 to close files. Takes them. */}}
{{- define "plumbline.terminationSeconds" -}}
{{- $longest := 0.0 -}}
{{- range . }}{{ $longest = maxf $longest (addf .settings.drain_s .settings.grace_s) }}{{ end -}}
{{- addf (ceil $longest) 5 | int -}}
{{- end -}}
