/** Minimal objects that several suites create. */
export const pods = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;

const podSpec = { containers: [{ name: "main", image: "registry.example.com/app:1" }] };

export function makePod(name: string, metadata: object = {}, spec: object = {}): object {
  return { apiVersion: "v1", kind: "Pod", metadata: { name, ...metadata }, spec: { ...podSpec, ...spec } };
}

export function makeDeployment(name: string, spec: object = {}, metadata: object = {}): object {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, ...metadata },
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: podSpec },
      ...spec,
    },
  };
}

export function makeConfigMap(name: string, data: Record<string, string> = {}, metadata: object = {}): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, data };
}
