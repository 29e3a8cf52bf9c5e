{{- define "flotilla.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "flotilla.labels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{ include "flotilla.selector" . }}
{{- end }}

{{- define "flotilla.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "flotilla.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "flotilla.store" -}}
{{- if .Values.store.address }}{{ .Values.store.address }}
{{- else if .Values.etcd.enabled }}{{ $name := include "flotilla.name" . }}etcd://
{{- range $index := until (int .Values.etcd.replicas) }}{{ if $index }},{{ end }}{{ $name }}-etcd-{{ $index }}.{{ $name }}-etcd.{{ $.Release.Namespace }}.svc:2379{{ end }}
{{- else }}{{ fail "set store.address, or enable the etcd of this chart with etcd.enabled" }}
{{- end }}
{{- end }}

{{- define "flotilla.podSecurity" -}}
automountServiceAccountToken: false
{{ include "flotilla.podSettings" . }}
{{- end }}

{{- define "flotilla.podSettings" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- end }}

{{- define "flotilla.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- define "flotilla.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{ toJson . }}
{{- end }}

{{- define "flotilla.controllers" -}}
{{- $root := .root }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .name }}
  labels:
    {{- include "flotilla.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
spec:
  replicas: {{ .replicas }}
  selector:
    matchLabels:
      {{- include "flotilla.selector" $root | nindent 6 }}
      app.kubernetes.io/component: {{ .component }}
  template:
    metadata:
      labels:
        {{- include "flotilla.selector" $root | nindent 8 }}
        app.kubernetes.io/component: {{ .component }}
        flotilla.dev/role: controllers
    spec:
      {{- include "flotilla.podSecurity" $root | nindent 6 }}
      {{- include "flotilla.spread" (dict "app.kubernetes.io/instance" $root.Release.Name "app.kubernetes.io/component" .component) | nindent 6 }}
      # A clean stop hands over within two seconds.
      terminationGracePeriodSeconds: 30
      containers:
        - name: controllers
          image: {{ include "flotilla.image" $root }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args:
            - controllers
            - --kubeconfig=/etc/flotilla/kubeconfig
            - --metrics-address=0.0.0.0:9103
            - --log-format=json
            - --log-level=info
            {{- with .groups }}
            - --controllers={{ . }}
            {{- end }}
            {{- with .shard }}
            - --shard={{ . }}
            {{- end }}
            {{- range $root.Values.controllers.extraArgs }}
            - {{ . | quote }}
            {{- end }}
          ports:
            - { name: metrics, containerPort: 9103 }
          livenessProbe:
            httpGet: { path: /healthz, port: metrics }
            periodSeconds: 10
            failureThreshold: 6
          readinessProbe:
            httpGet: { path: /readyz, port: metrics }
            periodSeconds: 5
          resources: {{ toJson $root.Values.controllers.resources }}
          {{- include "flotilla.containerSecurity" $root | nindent 10 }}
          volumeMounts:
            - { name: kubeconfig, mountPath: /etc/flotilla, readOnly: true }
      volumes:
        - name: kubeconfig
          secret:
            secretName: {{ $root.Values.controllers.kubeconfigSecret }}
            defaultMode: 288
{{- end }}

{{- define "flotilla.hostLabels" -}}
{{ include "flotilla.labels" . }}
app.kubernetes.io/part-of: flotilla
flotilla.dev/installed: "true"
{{- end }}

{{- /* A program of a hub on the cluster that the chart is installed on, with its budget and its NetworkPolicy. */}}
{{- define "flotilla.hostProgram" -}}
{{- $root := .root }}
{{- $selector := dict "app.kubernetes.io/name" .name }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .name }}
  labels:
    app.kubernetes.io/name: {{ .name }}
    app.kubernetes.io/instance: {{ $root.Release.Name }}
    app.kubernetes.io/part-of: flotilla
    flotilla.dev/installed: "true"
spec:
  replicas: {{ .values.replicas }}
  selector:
    matchLabels: {{ toJson $selector }}
  strategy:
    rollingUpdate: { maxUnavailable: 0, maxSurge: 1 }
  template:
    metadata:
      labels:
        app.kubernetes.io/name: {{ .name }}
        app.kubernetes.io/instance: {{ $root.Release.Name }}
        app.kubernetes.io/part-of: flotilla
    spec:
      serviceAccountName: {{ .name }}
      {{- include "flotilla.podSettings" $root | nindent 6 }}
      {{- include "flotilla.spread" $selector | nindent 6 }}
      # Nothing of the hub is written or delivered without them.
      priorityClassName: system-cluster-critical
      terminationGracePeriodSeconds: 30
      containers:
        - name: {{ .container }}
          image: {{ include "flotilla.image" $root }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args:
            {{- range concat .args (list "--log-format=json" "--log-level=info") .values.extraArgs }}
            - {{ . | quote }}
            {{- end }}
          ports:
            {{- range $name, $port := .ports }}
            - { name: {{ $name }}, containerPort: {{ $port }} }
            {{- end }}
          livenessProbe:
            httpGet: { path: /healthz, port: metrics }
            periodSeconds: 10
            failureThreshold: 6
          readinessProbe:
            httpGet: { path: /readyz, port: metrics }
            periodSeconds: 5
          resources: {{ toJson .values.resources }}
          {{- include "flotilla.containerSecurity" $root | nindent 10 }}
{{- if $root.Values.podDisruptionBudget.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  labels:
    {{- include "flotilla.hostLabels" $root | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{ toJson $selector }}
{{- end }}
{{- if $root.Values.networkPolicy.enabled }}
---
# API servers call from addresses of nodes, which no selector names; so ports are what is restricted.
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ .name }}
  labels:
    {{- include "flotilla.hostLabels" $root | nindent 4 }}
spec:
  podSelector:
    matchLabels: {{ toJson $selector }}
  policyTypes: [Ingress]
  ingress:
    - ports:
        {{- range $name, $port := .ports }}
        - { port: {{ $name }} }
        {{- end }}
{{- end }}
{{- end }}
