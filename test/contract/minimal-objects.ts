/** The least that each kind needs to be accepted, in its storage version. A new kind adds itself here and gets the suites. */
import * as api from "../../src/api/index.ts";
import type { Kind } from "../../src/api/index.ts";
import type { JsonObject } from "../../src/base/index.ts";

const template: JsonObject = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:1" }] } };
const workload: JsonObject = { selector: { matchLabels: { app: "web" } }, template };
const deploymentSelector: JsonObject = { apiVersion: "apps/v1", kind: "Deployment" };

const fields = new Map<Kind, JsonObject>([
  [api.Namespace, {}],
  [api.ConfigMap, {}],
  [api.Secret, {}],
  [api.ServiceAccount, {}],
  [api.Pod, { spec: { containers: [{ name: "web", image: "web:1" }] } }],
  [api.Node, {}],
  [api.Event, { involvedObject: { namespace: "shop" } }],
  [api.Service, { spec: { ports: [{ port: 80 }] } }],
  [api.Deployment, { spec: workload }],
  [api.ReplicaSet, { spec: workload }],
  [api.ControllerRevision, { data: {}, revision: 1 }],
  [api.Lease, {}],
  [
    api.CustomResourceDefinition,
    {
      spec: {
        group: "example.com",
        names: { plural: "teapots", kind: "Teapot" },
        scope: "Namespaced",
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    },
  ],
  [api.Cluster, { spec: { syncMode: "Push" } }],
  [api.PropagationPolicy, { spec: { resourceSelectors: [deploymentSelector], placement: { replicaScheduling: {} } } }],
  [api.ClusterPropagationPolicy, { spec: { resourceSelectors: [deploymentSelector] } }],
  [api.OverridePolicy, { spec: { resourceSelectors: [deploymentSelector], overrideRules: [{ overriders: { labelsOverrider: [{ operator: "add", value: { a: "b" } }] } }] } }],
  [api.ClusterOverridePolicy, { spec: {} }],
  [api.ResourceBinding, { spec: { resource: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } } }],
  [api.Work, { spec: {} }],
  [api.CloneSet, { spec: workload }],
]);

export const kinds: readonly Kind[] = [...fields.keys()];

export function minimalObject(kind: Kind): JsonObject {
  const apiVersion = api.formatApiVersion(kind.group, kind.storageVersion);
  const name = kind.kind === "CustomResourceDefinition" ? "teapots.example.com" : "web";
  return { apiVersion, kind: kind.kind, metadata: { name, ...(kind.scope === "Namespaced" && { namespace: "shop" }) }, ...fields.get(kind) };
}
