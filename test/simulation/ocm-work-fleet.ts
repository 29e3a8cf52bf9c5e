/** A fleet with one member for tests of ManifestWorks, with helpers to create works and read their status. */
import { AppliedManifestWork, ManifestWork } from "@flotilla/ocm";
import { Namespace } from "@flotilla/kubernetes";
import { findCondition, HUB } from "@flotilla/apimachinery";
import type { Kind, KubernetesObject } from "@flotilla/apimachinery";
import type { ManifestConfigOption, ManifestWorkSpec } from "@flotilla/ocm";
import type { DeepReadonly, JsonObject } from "@flotilla/base";
import { find } from "@flotilla/client";
import { endsWithTest } from "@flotilla/testing/ends-with-test.ts";
import { startTestFleet, type TestFleet, type TestFleetOptions } from "@flotilla/testing/fleet/fleet.ts";

export const MEMBER = "member1";

export interface WorkFleet {
  fleet: TestFleet;
  create(
    name: string,
    manifests: JsonObject[],
    rest?: Partial<ManifestWorkSpec>,
    more?: { namespace?: string; annotations?: Record<string, string> },
  ): Promise<void>;
  patch(name: string, change: JsonObject): Promise<void>;
  remove(name: string): Promise<void>;
  work(name: string, namespace?: string): Promise<DeepReadonly<ManifestWork>>;
  /** `True AppliedManifestWorkComplete`, or `none`. */
  condition(name: string, type: string, namespace?: string): Promise<string>;
  /** The same for a manifest, with the message. */
  manifestCondition(name: string, ordinal: number, type: string): Promise<string>;
  onMember<T extends KubernetesObject>(kind: Kind<T>, name: string): Promise<DeepReadonly<T> | undefined>;
  applied(): Promise<DeepReadonly<AppliedManifestWork>[]>;
}

export async function startWorkFleet(options: Partial<TestFleetOptions> = {}): Promise<WorkFleet> {
  const members = options.members ?? [MEMBER];
  const fleet = endsWithTest(await startTestFleet({ members, ...options }));
  for (const name of members)
    if (!(await find(fleet.client, Namespace, { cluster: HUB, name })))
      await fleet.client.create(Namespace, HUB, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  const work: WorkFleet["work"] = (name, namespace = MEMBER) =>
    fleet.client.get(ManifestWork, { cluster: HUB, namespace, name });
  const notify = (found: { status: string; reason?: string } | undefined): string =>
    found ? `${found.status} ${found.reason}` : "none";
  return {
    fleet,
    work,
    async create(name, manifests, rest = {}, { namespace = MEMBER, annotations = {} } = {}) {
      await fleet.client.create(ManifestWork, HUB, {
        apiVersion: "work.open-cluster-management.io/v1",
        kind: "ManifestWork",
        metadata: { name, namespace, annotations },
        spec: { workload: { manifests }, ...rest },
      });
      await fleet.settle();
      await fleet.run(2_000);
    },
    async patch(name, change) {
      await fleet.client.patch(ManifestWork, { cluster: HUB, namespace: MEMBER, name }, change, { type: "merge" });
      await fleet.run(2_000);
    },
    async remove(name) {
      await fleet.client.delete(ManifestWork, { cluster: HUB, namespace: MEMBER, name });
      await fleet.run(5_000);
    },
    condition: async (name, type, namespace) =>
      notify(findCondition((await work(name, namespace)).status?.conditions, type)),
    async manifestCondition(name, ordinal, type) {
      const found = findCondition((await work(name)).status?.resourceStatus?.manifests?.[ordinal]?.conditions, type);
      return found ? `${notify(found)} ${found.message}`.trimEnd() : "none";
    },
    onMember: (kind, name) =>
      find(fleet.client, kind, {
        cluster: MEMBER,
        namespace: kind.scope === "Namespaced" ? "default" : undefined,
        name,
      }),
    applied: async () => [...(await fleet.client.list(AppliedManifestWork, { cluster: MEMBER })).items],
  };
}

export const configMap = (name: string, data: Record<string, string> = { a: "1" }): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
  data,
});

export const deployment = (name: string, spec: JsonObject = {}): JsonObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: "default" },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: "web", image: "web:1" }] } },
    ...spec,
  },
});

/** A manifest config for one object of the work. */
export const treat = (
  group: string,
  resource: string,
  name: string,
  rest: Partial<ManifestConfigOption>,
): ManifestConfigOption => ({ resourceIdentifier: { group, resource, namespace: "default", name }, ...rest });
