/** About 2 KB of JSON, like a small real service. */
export function deploymentBody(namespace: string, name: string, replicas = 6, image = "web:1"): string {
  const probe = (path: string) => ({
    httpGet: { path, port: 8080 },
    initialDelaySeconds: 5,
    periodSeconds: 10,
    timeoutSeconds: 2,
    failureThreshold: 3,
  });
  const labels = { app: name, tier: "backend", team: "payments" };
  const container = {
    name: "main",
    image,
    args: ["--port=8080", "--log-level=info", `--service=${name}`],
    ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
    env: Array.from({ length: 10 }, (_, index) => ({
      name: `SETTING_${index}`,
      value: `value-of-setting-${index}-for-${name}`,
    })),
    resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { cpu: "500m", memory: "256Mi" } },
    readinessProbe: probe("/ready"),
    livenessProbe: probe("/live"),
    securityContext: { runAsNonRoot: true, allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
  };
  return JSON.stringify({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace, labels },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  });
}
