{{/* The daemon's container, the same in both modes. It is told by its caller whether it is a sidecar. */}}
{{- define "penstock.container" -}}
{{- $probe := list "/usr/bin/penstockd" "healthcheck" "--config" "/etc/penstock/penstockd.toml" -}}
name: penstockd
image: {{ include "penstock.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
{{- if eq .Values.mode "sidecar" }}
# A native sidecar: it starts before Flink, which waits for its startup probe, and ends after it.
restartPolicy: Always
{{- end }}
args: [run, --config, /etc/penstock/penstockd.toml]
{{- if .Values.metrics.enabled }}
ports:
  - name: penstock
    containerPort: {{ .Values.metrics.port }}
    protocol: TCP
{{- end }}
startupProbe:
  exec:
    command: {{ toJson $probe }}
  periodSeconds: 1
  timeoutSeconds: {{ .Values.probes.timeoutSeconds }}
  failureThreshold: {{ .Values.probes.startupSeconds }}
readinessProbe:
  exec:
    command: {{ toJson $probe }}
  periodSeconds: {{ .Values.probes.periodSeconds }}
  timeoutSeconds: {{ .Values.probes.timeoutSeconds }}
livenessProbe:
  exec:
    command: {{ toJson $probe }}
  periodSeconds: {{ .Values.probes.periodSeconds }}
  timeoutSeconds: {{ .Values.probes.timeoutSeconds }}
  failureThreshold: 6
resources:
  requests:
    cpu: {{ .Values.cpu.request | quote }}
    memory: {{ include "penstock.memoryMiB" . }}Mi
  limits:
    {{- with .Values.cpu.limit }}
    cpu: {{ . | quote }}
    {{- end }}
    # The same as the request: arena and heap are used in full sooner or later.
    memory: {{ include "penstock.memoryMiB" . }}Mi
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .Values.user.uid }}
  runAsGroup: {{ .Values.user.gid }}
  readOnlyRootFilesystem: true
  allowPrivilegeEscalation: false
  capabilities:
    drop: [ALL]
  seccompProfile:
    type: RuntimeDefault
volumeMounts:
  - name: penstock-config
    mountPath: /etc/penstock
    readOnly: true
  - name: penstock-sockets
    mountPath: /run/penstock
{{- end -}}

{{/* The metrics annotations of a pod, or nothing. */}}
{{- define "penstock.scrapeAnnotations" -}}
{{- if and .Values.metrics.enabled .Values.metrics.annotations -}}
prometheus.io/scrape: "true"
prometheus.io/port: {{ .Values.metrics.port | quote }}
prometheus.io/path: /metrics
{{- end -}}
{{- end -}}
