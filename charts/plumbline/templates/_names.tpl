{{/* The prefix of all objects of a release: its name, with "plumbline" in it. Takes the root. */}}
{{- define "plumbline.fullname" -}}
{{- $name := .Release.Name -}}
{{- if not (contains .Chart.Name $name) -}}
{{- $name = printf "%s-%s" $name .Chart.Name -}}
{{- end -}}
{{- $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{/* The claim that holds all data. Takes the root. */}}
{{- define "plumbline.claim" -}}
{{- .Values.volume.existingClaim | default (printf "%s-data" (include "plumbline.fullname" .)) -}}
{{- end -}}

{{/* The image of one service. Takes (dict "root" "name" "service"). */}}
{{- define "plumbline.image" -}}
{{- $image := .root.Values.image -}}
{{- if .service.digest -}}
{{- printf "%s/%s@%s" $image.repository .name .service.digest -}}
{{- else -}}
{{- printf "%s/%s:%s" $image.repository .name ($image.tag | default .root.Chart.AppVersion) -}}
{{- end -}}
{{- end -}}
