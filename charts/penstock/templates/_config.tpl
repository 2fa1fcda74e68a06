{{/* The daemon's configuration. What is not here has the daemon's default. */}}
{{- define "penstock.config" -}}
version = 1

[listen]
directory = {{ include "penstock.socketDirectory" . | quote }}

[session]
max_sessions = {{ .Values.daemon.maxSessions | int64 }}

[arena]
capacity = "{{ .Values.arena.capacityMiB | int64 }}MiB"
segment = "{{ .Values.arena.segmentMiB | int64 }}MiB"
warm_segments = {{ .Values.arena.warmSegments | int64 }}

[writer]
max_writers = {{ .Values.daemon.maxWriters | int64 }}

[process]
go_memory_limit = "{{ .Values.daemon.heapMiB | int64 }}MiB"
shutdown_grace = "{{ .Values.daemon.shutdownGraceSeconds | int64 }}s"

[metrics]
{{- if .Values.metrics.enabled }}
# Prometheus comes from outside of the pod.
listen = ":{{ .Values.metrics.port | int64 }}"
{{- else }}
listen = ""
{{- end }}

[log]
level = {{ .Values.daemon.logLevel | quote }}
format = {{ .Values.daemon.logFormat | quote }}
{{- end -}}
