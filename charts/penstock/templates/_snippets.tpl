{{/* What a TaskManager's pod needs: a pod template as Flink reads it. flink-main-container is the name that Flink gives its container. */}}
{{- define "penstock.podTemplate" -}}
metadata:
  {{- $annotations := "" }}
  {{- if eq .Values.mode "sidecar" }}
  {{- $annotations = include "penstock.scrapeAnnotations" . }}
  {{- end }}
  {{- with $annotations }}
  annotations:
    {{- . | nindent 4 }}
  {{- end }}
  labels:
    penstock.dev/taskmanager: {{ include "penstock.fullname" . }}
spec:
  {{- if eq .Values.mode "sidecar" }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  terminationGracePeriodSeconds: {{ include "penstock.terminationSeconds" . }}
  securityContext:
    # The group of the socket's volume.
    fsGroup: {{ .Values.user.gid }}
  initContainers:
    - {{- include "penstock.container" . | nindent 6 }}
  {{- end }}
  containers:
    - name: flink-main-container
      env:
        - name: PENSTOCK_SOCKET_DIR
          value: {{ include "penstock.socketDirectory" . }}
      volumeMounts:
        - name: penstock-sockets
          mountPath: /run/penstock
          # Connecting needs no more.
          readOnly: true
  volumes:
    {{- if eq .Values.mode "sidecar" }}
    - name: penstock-sockets
      emptyDir:
        medium: Memory
        sizeLimit: 1Mi
    - name: penstock-config
      configMap:
        name: {{ include "penstock.fullname" . }}-config
    {{- else }}
    - name: penstock-sockets
      hostPath:
        path: {{ .Values.daemonset.hostPath }}
        type: Directory
    {{- end }}
{{- end -}}
