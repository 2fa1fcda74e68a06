{{- define "penstock.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "penstock.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains (include "penstock.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "penstock.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "penstock.selector" -}}
app.kubernetes.io/name: {{ include "penstock.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "penstock.labels" -}}
{{ include "penstock.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "penstock.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}{{ .repository }}@{{ .digest }}{{- else -}}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{- end -}}
{{- end -}}
{{- end -}}

{{/* All that the daemon's memory limit must hold: it pays for the arena, which it populates, not the TaskManager. */}}
{{- define "penstock.memoryMiB" -}}
{{- add .Values.arena.capacityMiB .Values.daemon.heapMiB .Values.daemon.marginMiB -}}
{{- end -}}

{{/* Where the sockets are, in the daemon and in the TaskManager. An emptyDir can be written by everybody, which the daemon refuses, so it
makes a folder of its own inside. */}}
{{- define "penstock.socketDirectory" -}}
{{- if eq .Values.mode "sidecar" -}}/run/penstock/sockets{{- else -}}/run/penstock{{- end -}}
{{- end -}}

{{/* Seconds that the daemon may take to end: draining, stopping (process.stop_timeout, 20 s) and some. */}}
{{- define "penstock.terminationSeconds" -}}
{{- add .Values.daemon.shutdownGraceSeconds 30 -}}
{{- end -}}

{{/* What follows from values together, which no schema says. */}}
{{- define "penstock.check" -}}
{{- with .Values.arena -}}
{{- if gt (int .segmentMiB) (int .capacityMiB) -}}
{{- fail (printf "arena.segmentMiB = %v is larger than arena.capacityMiB = %v: lower the one or raise the other" .segmentMiB .capacityMiB) -}}
{{- end -}}
{{- if gt (mul (int .warmSegments) (int .segmentMiB)) (int .capacityMiB) -}}
{{- fail (printf "arena.warmSegments = %v segments of %v MiB do not fit into arena.capacityMiB = %v: lower it" .warmSegments .segmentMiB .capacityMiB) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.metrics.enabled) -}}
{{- fail "metrics.serviceMonitor.enabled = true needs metrics.enabled = true" -}}
{{- end -}}
{{- end -}}
